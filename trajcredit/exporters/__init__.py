"""Credit -> files: one file format or trainer a module, all registered."""

from trajcredit.exporters.agent_lightning import AgentLightning
from trajcredit.exporters.areal import Areal
from trajcredit.exporters.art import Art
from trajcredit.exporters.credit import Credit
from trajcredit.exporters.jsonl import Jsonl
from trajcredit.exporters.nemo_rl import NemoRl
from trajcredit.exporters.openrlhf import OpenRlhf
from trajcredit.exporters.parquet import Parquet
from trajcredit.exporters.prime_rl import PrimeRl
from trajcredit.exporters.rllm import Rllm
from trajcredit.exporters.rows import COLUMNS, SCHEMA, Exported, Exporter
from trajcredit.exporters.safetensors import Safetensors
from trajcredit.exporters.skyrl import SkyRL
from trajcredit.exporters.slime import Slime
from trajcredit.exporters.tinker import Tinker
from trajcredit.exporters.token_jsonl import Tokens
from trajcredit.exporters.tokens import TokenExporter
from trajcredit.exporters.trl import Trl
from trajcredit.exporters.verifiers import Verifiers
from trajcredit.exporters.verl import Verl

__all__ = [
    "COLUMNS",
    "SCHEMA",
    "AgentLightning",
    "Areal",
    "Art",
    "Credit",
    "Exported",
    "Exporter",
    "Jsonl",
    "NemoRl",
    "OpenRlhf",
    "Parquet",
    "PrimeRl",
    "Rllm",
    "Safetensors",
    "SkyRL",
    "Slime",
    "Tinker",
    "TokenExporter",
    "Tokens",
    "Trl",
    "Verifiers",
    "Verl",
]
