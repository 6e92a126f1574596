"""Log bytes -> trajectories: one reader a format, all registered; `Reader` says what one is."""

from trajcredit.formats.adk import Adk
from trajcredit.formats.agent_lightning import AgentLightning
from trajcredit.formats.anthropic import Anthropic
from trajcredit.formats.atif import Atif
from trajcredit.formats.bfcl import Bfcl
from trajcredit.formats.canonical import Canonical
from trajcredit.formats.claude_code import ClaudeCode
from trajcredit.formats.claude_code_stream import ClaudeCodeStream
from trajcredit.formats.codex import Codex
from trajcredit.formats.codex_exec import CodexExec
from trajcredit.formats.document import Document, Match, Seen, decoded, trajectories
from trajcredit.formats.gemini import Gemini
from trajcredit.formats.inspect_ai import InspectAI
from trajcredit.formats.langfuse import Langfuse
from trajcredit.formats.langsmith import LangSmith
from trajcredit.formats.mini_swe_agent import MiniSWEAgent
from trajcredit.formats.openai_chat import OpenAIChat
from trajcredit.formats.openai_completions import OpenAICompletions
from trajcredit.formats.openai_responses import OpenAIResponses
from trajcredit.formats.openhands import OpenHands
from trajcredit.formats.openinference import OpenInference
from trajcredit.formats.otel_genai import OtelGenAI
from trajcredit.formats.reading import Reader, read, read_bytes
from trajcredit.formats.sharegpt import ShareGpt
from trajcredit.formats.split import Record
from trajcredit.formats.swe_agent import SWEAgent
from trajcredit.formats.tau2_bench import Tau2Bench
from trajcredit.formats.tau_bench import TauBench
from trajcredit.formats.terminal_bench import TerminalBench
from trajcredit.formats.toolbench import ToolBench
from trajcredit.formats.trl import Trl
from trajcredit.formats.verifiers import Verifiers
from trajcredit.formats.verifiers_traces import VerifiersTraces
from trajcredit.formats.verl import Verl
from trajcredit.formats.who_and_when import WhoAndWhen

__all__ = [
    "Adk",
    "AgentLightning",
    "Anthropic",
    "Atif",
    "Bfcl",
    "Canonical",
    "ClaudeCode",
    "ClaudeCodeStream",
    "Codex",
    "CodexExec",
    "Document",
    "Gemini",
    "InspectAI",
    "LangSmith",
    "Langfuse",
    "Match",
    "MiniSWEAgent",
    "OpenAIChat",
    "OpenAICompletions",
    "OpenAIResponses",
    "OpenHands",
    "OpenInference",
    "OtelGenAI",
    "Reader",
    "Record",
    "SWEAgent",
    "Seen",
    "ShareGpt",
    "Tau2Bench",
    "TauBench",
    "TerminalBench",
    "ToolBench",
    "Trl",
    "Verifiers",
    "VerifiersTraces",
    "Verl",
    "WhoAndWhen",
    "decoded",
    "read",
    "read_bytes",
    "trajectories",
]
