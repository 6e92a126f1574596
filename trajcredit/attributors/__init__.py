"""Columns -> credit per span: one attributor a file, all registered."""

from trajcredit.attributors.base import Attribution, Attributor, Term, configure
from trajcredit.attributors.belief import Belief
from trajcredit.attributors.broadcast import Broadcast
from trajcredit.attributors.clues import Clues
from trajcredit.attributors.dag import Dag
from trajcredit.attributors.doubly_robust import DoublyRobust
from trajcredit.attributors.gae import Gae
from trajcredit.attributors.gigpo import Gigpo
from trajcredit.attributors.gpg import Gpg
from trajcredit.attributors.grpo import Grpo
from trajcredit.attributors.hindsight import Hindsight
from trajcredit.attributors.information_gain import InformationGain
from trajcredit.attributors.judge import Judge
from trajcredit.attributors.maxrl import Maxrl
from trajcredit.attributors.mixture import Mixture
from trajcredit.attributors.moving_average import MovingAverage
from trajcredit.attributors.novelty import Novelty
from trajcredit.attributors.opo import Opo
from trajcredit.attributors.options import Options
from trajcredit.attributors.passk import Passk
from trajcredit.attributors.reinforce_pp import ReinforcePp
from trajcredit.attributors.rloo import Rloo
from trajcredit.attributors.rtg import Rtg
from trajcredit.attributors.rudder import Rudder
from trajcredit.attributors.shapley import Shapley
from trajcredit.attributors.tree import Tree
from trajcredit.attributors.value import Value

__all__ = [
    "Attribution",
    "Attributor",
    "Belief",
    "Broadcast",
    "Clues",
    "Dag",
    "DoublyRobust",
    "Gae",
    "Gigpo",
    "Gpg",
    "Grpo",
    "Hindsight",
    "InformationGain",
    "Judge",
    "Maxrl",
    "Mixture",
    "MovingAverage",
    "Novelty",
    "Opo",
    "Options",
    "Passk",
    "ReinforcePp",
    "Rloo",
    "Rtg",
    "Rudder",
    "Shapley",
    "Term",
    "Tree",
    "Value",
    "configure",
]
