"""Columns -> credit per span: one attributor a file, all registered."""

from trajcredit.attributors.base import Attribution, Attributor, Term, configure
from trajcredit.attributors.broadcast import Broadcast
from trajcredit.attributors.dag import Dag
from trajcredit.attributors.doubly_robust import DoublyRobust
from trajcredit.attributors.gae import Gae
from trajcredit.attributors.gigpo import Gigpo
from trajcredit.attributors.grpo import Grpo
from trajcredit.attributors.information_gain import InformationGain
from trajcredit.attributors.moving_average import MovingAverage
from trajcredit.attributors.novelty import Novelty
from trajcredit.attributors.rloo import Rloo
from trajcredit.attributors.rtg import Rtg
from trajcredit.attributors.shapley import Shapley
from trajcredit.attributors.tree import Tree

__all__ = [
    "Attribution",
    "Attributor",
    "Broadcast",
    "Dag",
    "DoublyRobust",
    "Gae",
    "Gigpo",
    "Grpo",
    "InformationGain",
    "MovingAverage",
    "Novelty",
    "Rloo",
    "Rtg",
    "Shapley",
    "Term",
    "Tree",
    "configure",
]
