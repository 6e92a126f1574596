"""Events of OpenHands V0 -> spans: actions of the agent, observations that name the action they were caused by."""

from __future__ import annotations

from typing import Any

from trajcredit.formats.parts import Arguments, arguments_of, json_text, text_of, time_of, tools_of, usage_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Span, Tool, TurnTokens

__all__ = ["Stream0"]

SILENT = ("null", "recall", "change_agent_state", "agent_state_changed", "pause", "resume", "stop", "start")
"""What the program does for itself."""
BOOKKEEPING = frozenset(
    {
        "thought",
        "confirmation_state",
        "is_confirmed",
        "security_risk",
        "action_risk",
        "keep_prompt",
        "hidden",
        "blocking",
        "is_input",
        "is_static",
        "kernel_init_code",
        "include_extra",
        "impl_source",
        "image_urls",
        "wait_for_response",
    }
)
"""Arguments of an action that the model did not give."""
FLAT = frozenset(
    {
        "action",
        "observation",
        "id",
        "timestamp",
        "source",
        "message",
        "cause",
        "tool_call_metadata",
        "llm_metrics",
        "timeout",
    }
)


class Stream0:
    """A stream on its way to a transcript."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.tools: list[Tool] = []
        self.turns: list[TurnTokens] = []
        self.model: str | None = None
        self._calls: dict[Any, int] = {}  # action -> its call
        self._response: str | None = None
        self._said: set[str] = set()  # in the current response
        self._user_calls = 0

    def add(self, event: dict[str, Any], index: int) -> None:
        """The spans of one event."""
        first = len(self.transcript.spans)
        if isinstance(event.get("action"), str):
            self._act(event, event["action"], index)
        elif isinstance(event.get("observation"), str):
            self._observe(event, event["observation"], index)
        else:
            self.transcript.add("meta", json_text(event), index)
            self.transcript.note("unknown-event", "an event that is neither action nor observation: kept as JSON")
        self.transcript.mark(first, started_at=time_of(event.get("timestamp")))

    def finished(self) -> tuple[list[Span], list[Note]]:
        """The spans and what is to be said about them."""
        transcript = self.transcript
        if self._user_calls:
            transcript.notes.append(
                Note("user-call", f"actions that the user ran stand as observations: {self._user_calls}")
            )
        transcript.finish()
        return transcript.spans, transcript.notes

    def _act(self, event: dict[str, Any], action: str, index: int) -> None:
        given = event.get("args")
        args: dict[str, Any] = given if isinstance(given, dict) else {k: v for k, v in event.items() if k not in FLAT}
        content = text_of(args.get("content"))[0]
        if action in SILENT:
            return
        by_agent = event.get("source") in ("agent", None) and not (event.get("source") is None and index == 0)
        if action == "system":
            self.transcript.add("system", content, index)
            self.tools = list(tools_of(_raw(args.get("tools"))))
        elif action == "condensation":
            self.transcript.add("meta", str(args.get("summary") or "context condensed"), index)
        elif action == "message":
            if by_agent:
                self._begin(event)
                if content.strip():
                    self.transcript.add("assistant", content, index)
            else:
                self.transcript.add("user", content, index)
        elif by_agent:
            self._call(event, action, args, index)
        else:
            self._user_calls += 1
            self.transcript.add("user", f"{action} {json_text(args)}", index, "user")

    def _call(self, event: dict[str, Any], action: str, args: dict[str, Any], index: int) -> None:
        """A thought, which is the text of the answer, and the call that came with it."""
        first = len(self.transcript.spans)
        reasoning = self._begin(event)
        if reasoning:
            self.transcript.add("reasoning", reasoning, index)
        thought = args.get("thought")
        if isinstance(thought, str) and thought.strip() and thought not in self._said:
            self._said.add(thought)
            if action != "think":
                self.transcript.add("assistant", thought, index)
        about = event.get("tool_call_metadata")
        about = about if isinstance(about, dict) else {}
        name, call_id = about.get("function_name"), about.get("tool_call_id")
        call_id = call_id if isinstance(call_id, str) and call_id else None
        arguments = _arguments(about, call_id, action, args)
        if isinstance(event.get("id"), str | int):
            self._calls[event["id"]] = len(self.transcript.spans)
        self.transcript.call(name if isinstance(name, str) and name else action, call_id, arguments, index)
        usage = _response(about).get("usage")
        if reasoning is not None:
            self.transcript.count(usage_of(usage), first)

    def _begin(self, event: dict[str, Any]) -> str | None:
        """A new turn, unless the same answer of the model goes on; its reasoning, null where it goes on."""
        about = event.get("tool_call_metadata")
        response = _response(about if isinstance(about, dict) else {})
        name = response.get("id")
        if isinstance(name, str) and name == self._response:
            return None
        self._response = name if isinstance(name, str) else None
        self._said = set()
        self.transcript.begin_turn()
        model = response.get("model")
        self.model = model if isinstance(model, str) and model else self.model
        reasoning = _message(response).get("reasoning_content")
        return reasoning if isinstance(reasoning, str) else ""

    def _observe(self, event: dict[str, Any], kind: str, index: int) -> None:
        if kind in SILENT:
            return
        transcript = self.transcript
        text, opaque = text_of(event.get("content"))
        about = event.get("tool_call_metadata")
        call_id = about.get("tool_call_id") if isinstance(about, dict) else None
        call = self._calls.pop(_key(event.get("cause")), None)
        if call is not None:
            transcript.answer(call, text, _failed(event, kind), index)
        elif kind in ("condense", "message", "system"):
            transcript.add("meta", text, index)
        else:
            call_id = call_id if isinstance(call_id, str) else None
            transcript.result(text, call_id, None if call_id else kind, _failed(event, kind), index)
        if opaque:
            transcript.opaque(opaque)


def _arguments(about: dict[str, Any], call_id: str | None, action: str, args: dict[str, Any]) -> Arguments:
    """The arguments as the model gave them, where its answer is logged; else those of the action."""
    calls = _message(_response(about)).get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and call.get("id") == call_id:
            return arguments_of(function.get("arguments"))
    kept = {
        key: value for key, value in args.items() if key not in BOOKKEEPING or (action == "think" and key == "thought")
    }
    return arguments_of(kept)


def _response(about: dict[str, Any]) -> dict[str, Any]:
    response = about.get("model_response")
    return response if isinstance(response, dict) else {}


def _message(response: dict[str, Any]) -> dict[str, Any]:
    choices = response.get("choices")
    message = (
        choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    )
    return message if isinstance(message, dict) else {}


def _failed(event: dict[str, Any], kind: str) -> bool | None:
    """What the log says about an observation: its kind, its exit code, its flag."""
    if kind in ("error", "user_rejected"):
        return True
    given = event.get("extras")
    extras: dict[str, Any] = given if isinstance(given, dict) else event
    metadata = extras.get("metadata")
    codes = (metadata.get("exit_code") if isinstance(metadata, dict) else None, extras.get("exit_code"))
    code = next((code for code in codes if isinstance(code, int)), None)
    if code is not None and code != -1:  # which says that it is not known
        return code != 0
    flag = event.get("success")
    return not flag if isinstance(flag, bool) else None


def _raw(value: Any) -> bytes:
    return json_text(value).encode()


def _key(value: Any) -> str | int | None:
    """The id of an event, if it is one."""
    return value if isinstance(value, str | int) else None
