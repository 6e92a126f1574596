"""Events of the OpenHands agent SDK (V1) -> spans."""

from __future__ import annotations

from typing import Any

from trajcredit.errors import InputError
from trajcredit.formats.parts import arguments_of, json_text, text_of, thought_and_text, time_of, tools_of
from trajcredit.formats.transcript import Transcript
from trajcredit.model import Note, Span, Tool, TurnTokens

__all__ = ["KINDS", "Stream1"]

SILENT = frozenset(
    {
        "ConversationStateUpdateEvent",
        "PauseEvent",
        "CondensationRequest",
        "LLMCompletionLogEvent",
        "HookExecutionEvent",
        "StreamingDeltaEvent",
    }
)
"""What the program notes for itself."""
KINDS = SILENT | frozenset(
    {
        "SystemPromptEvent",
        "MessageEvent",
        "ActionEvent",
        "ObservationEvent",
        "UserRejectObservation",
        "AgentErrorEvent",
        "Condensation",
        "CondensationSummaryEvent",
        "TokenEvent",
        "ConversationErrorEvent",
    }
)


class Stream1:
    """A stream on its way to a transcript."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.tools: list[Tool] = []
        self.turns: list[TurnTokens] = []
        self.model: str | None = None
        self._calls: dict[Any, int] = {}  # action -> its call
        self._response: str | None = None

    def add(self, event: dict[str, Any], index: int) -> None:
        """The spans of one event."""
        kind = _word(event.get("kind"))
        if kind in SILENT:
            if kind == "ConversationStateUpdateEvent":
                self._heed(event)
            return
        first = len(self.transcript.spans)
        add = _ADD.get(kind or "")
        if add is not None:
            add(self, event, index)
        else:
            self.transcript.add("meta", json_text(event), index)
            self.transcript.note("unknown-event", f"an event of the kind {kind!r}: kept as JSON")
        self.transcript.mark(first, started_at=time_of(event.get("timestamp")))

    def finished(self) -> tuple[list[Span], list[Note]]:
        """The spans and what is to be said about them."""
        self.transcript.finish()
        return self.transcript.spans, self.transcript.notes

    def _heed(self, event: dict[str, Any]) -> None:
        """Which model acts."""
        value = event.get("value")
        metrics = value.get("usage_to_metrics") if isinstance(value, dict) and event.get("key") == "stats" else None
        default = next(iter(metrics.values()), None) if isinstance(metrics, dict) else None
        model = default.get("model_name") if isinstance(default, dict) else None
        self.model = model if isinstance(model, str) else self.model

    def _begin(self, event: dict[str, Any]) -> bool:
        """A new turn, unless the same answer of the model goes on."""
        response = event.get("llm_response_id")
        if isinstance(response, str) and response == self._response:
            return False
        self._response = response if isinstance(response, str) else None
        self.transcript.begin_turn()
        return True

    def _prompt(self, event: dict[str, Any], index: int) -> None:
        self.transcript.add("system", text_of(event.get("system_prompt"))[0], index)
        tools = event.get("tools")
        named = [
            {"name": tool.get("name") or tool.get("title"), **tool}
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, dict) and (tool.get("name") or tool.get("title") or "function" in tool)
        ]
        self.tools = list(tools_of(json_text(named).encode()))

    def _message(self, event: dict[str, Any], index: int) -> None:
        given = event.get("llm_message")
        message: dict[str, Any] = given if isinstance(given, dict) else {}
        text, opaque = text_of(message.get("content"))
        if event.get("source") == "agent":
            self._begin(event)
            self._say(message.get("reasoning_content"), text, index)
        else:
            self.transcript.add("user" if event.get("source") == "user" else "system", text, index)
        if opaque and self.transcript.spans:
            self.transcript.opaque(opaque)

    def _say(self, reasoning: Any, text: str, index: int) -> None:
        """Reasoning and text; some models put the reasoning in the text as well."""
        thought, rest = thought_and_text(text)
        reasoning = reasoning if isinstance(reasoning, str) and reasoning.strip() else thought
        text = rest if thought else text
        if reasoning:
            self.transcript.add("reasoning", reasoning, index)
            if reasoning is thought:
                self.transcript.mark(len(self.transcript.spans) - 1, inferred=True)
        if text.strip():
            self.transcript.add("assistant", text, index)

    def _act(self, event: dict[str, Any], index: int) -> None:
        if self._begin(event):
            self._say(event.get("reasoning_content"), text_of(event.get("thought"))[0], index)
        given, action = event.get("tool_call"), event.get("action")
        call: dict[str, Any] = given if isinstance(given, dict) else {}
        inner = call.get("function")
        call = inner | {"id": call.get("id")} if isinstance(inner, dict) else call
        name = _word(event.get("tool_name")) or _word(call.get("name"))
        arguments = call.get("arguments")
        if arguments is None and isinstance(action, dict):
            arguments = {key: value for key, value in action.items() if key != "kind"}
        given = arguments_of(arguments)
        if isinstance(event.get("id"), str | int):
            self._calls[event["id"]] = len(self.transcript.spans)
        self.transcript.call(name, _word(event.get("tool_call_id")) or _word(call.get("id")), given, index)

    def _observe(self, event: dict[str, Any], index: int) -> None:
        given = event.get("observation")
        seen: dict[str, Any] = given if isinstance(given, dict) else {}
        content = next((seen[key] for key in ("content", "output", "result") if seen.get(key)), None)
        text, opaque = text_of(content if seen else given)
        failed = seen.get("is_error")
        code = seen.get("exit_code")
        if not failed and isinstance(code, int) and code > 0:
            failed = None  # the tool did its work, the command in it did not: the text must say
        self._result(event, text, failed if isinstance(failed, bool) else None, index)
        if opaque:
            self.transcript.opaque(opaque)

    def _refuse(self, event: dict[str, Any], index: int) -> None:
        said = next((event[key] for key in ("rejection_reason", "error", "detail") if event.get(key)), "")
        self._result(event, said if isinstance(said, str) else json_text(said), True, index)

    def _result(self, event: dict[str, Any], text: str, failed: bool | None, index: int) -> None:
        call = self._calls.pop(_key(event.get("action_id")), None)
        if call is not None:
            self.transcript.answer(call, text, failed, index)
        else:
            name = _word(event.get("tool_name"))
            self.transcript.result(text, _word(event.get("tool_call_id")), name, failed, index)

    def _condense(self, event: dict[str, Any], index: int) -> None:
        summary = event.get("summary")
        gone = event.get("forgotten_event_ids")
        what = f"{len(gone)} events were forgotten" if isinstance(gone, list) else "context condensed"
        self.transcript.add("meta", summary if isinstance(summary, str) and summary else what, index)

    def _count(self, event: dict[str, Any], index: int) -> None:
        prompt, sampled = event.get("prompt_token_ids"), event.get("response_token_ids")
        for ids in (prompt, sampled):
            if ids is not None and not (isinstance(ids, list) and all(type(one) is int for one in ids)):
                raise InputError("token ids are no list of integers")
        if self.transcript.turn >= 0:
            self.turns.append(TurnTokens(self.transcript.turn, prompt, sampled))

    def _fail(self, event: dict[str, Any], index: int) -> None:
        said = event.get("detail") or event.get("error") or event.get("code")
        self.transcript.notes.append(Note("run-error", f"the conversation ended in an error: {str(said)[:500]}"))


_ADD = {
    "SystemPromptEvent": Stream1._prompt,
    "MessageEvent": Stream1._message,
    "ActionEvent": Stream1._act,
    "ObservationEvent": Stream1._observe,
    "UserRejectObservation": Stream1._refuse,
    "AgentErrorEvent": Stream1._refuse,
    "Condensation": Stream1._condense,
    "CondensationSummaryEvent": Stream1._condense,
    "TokenEvent": Stream1._count,
    "ConversationErrorEvent": Stream1._fail,
}


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _key(value: Any) -> str | int | None:
    """The id of an event, if it is one."""
    return value if isinstance(value, str | int) else None
