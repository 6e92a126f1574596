"""Columns -> credit per span: one attributor a file, all registered."""

from trajcredit.attributors.base import Attribution, Attributor, Term, configure
from trajcredit.attributors.broadcast import Broadcast
from trajcredit.attributors.dag import Dag
from trajcredit.attributors.gae import Gae
from trajcredit.attributors.grpo import Grpo
from trajcredit.attributors.moving_average import MovingAverage
from trajcredit.attributors.rloo import Rloo
from trajcredit.attributors.rtg import Rtg

__all__ = [
    "Attribution",
    "Attributor",
    "Broadcast",
    "Dag",
    "Gae",
    "Grpo",
    "MovingAverage",
    "Rloo",
    "Rtg",
    "Term",
    "configure",
]
