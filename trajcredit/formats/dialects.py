"""What the attributes of a span mean, in the conventions of OpenTelemetry, OpenInference and the frameworks.

| note | says |
| --- | --- |
| `broken-attribute` | an attribute cannot be read: it nests too deep |
| `other-samples` | the model was asked for several answers: only the first is read |
| `bad-tools` | the declared tools cannot be read: left out |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from trajcredit.errors import InputError
from trajcredit.formats.dotted import Grouped, dicts, elements, grouped
from trajcredit.formats.otlp import Happening, TraceSpan
from trajcredit.formats.parts import arguments_of, json_text, text_of, tools_of, usage_of
from trajcredit.formats.repeated import Reading
from trajcredit.formats.said import Message, messages_of, piece, unquoted
from trajcredit.formats.steps import Ids, Step
from trajcredit.model import LARGEST_NUMBER, Reward, Tool

__all__ = ["AGENTS", "CALL_IDS", "declared", "first_text", "is_known", "returned", "step_of"]

OPERATIONS = {
    "chat": "llm",
    "generate_content": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "execute_tool": "tool",
    "invoke_agent": "agent",
}
KINDS = {"LLM": "llm", "TOOL": "tool", "AGENT": "agent", "tool": "tool", "agent": "agent"}
"""Of OpenInference (capitals) and OpenLLMetry."""
LLM_KEYS = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt.0.role",
    "gen_ai.completion.0.role",
    "gcp.vertex.agent.llm_request",
    "ai.prompt.messages",
    "llm.input_messages.0.message.role",
)
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "tool_arguments",
    "ai.toolCall.args",
    "input.value",
    "tool.parameters",
    "traceloop.entity.input",
)
RESULTS = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "tool_response",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
)
AGENTS = ("gen_ai.agent.name", "agent.name", "agent_name", "graph.node.id")
TOOLS = ("gen_ai.tool.definitions", "model_request_parameters", "gcp.vertex.agent.llm_request", "ai.prompt.tools")
ASKED = ("gen_ai.input.messages", "gcp.vertex.agent.llm_request", "ai.prompt.messages")
ANSWERED = ("gen_ai.output.messages", "gcp.vertex.agent.llm_response")
WHOLE = ("pydantic_ai.all_messages", "all_messages_events")
"""All that an agent saw and did, where its requests are not logged."""
USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
    "cached_tokens": ("gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
}
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.response.model", "ai.model.id")
"""What answered, else what was asked for."""
COSTS = ("operation.cost", "gen_ai.usage.cost", "llm.cost.total")
EVENTS = ("system", "user", "assistant", "tool")
DETAILS = "gen_ai.client.inference.operation.details"
EMPTY = ("{}", "[]", "")


def is_known(span: TraceSpan) -> bool:
    """Whether a span says anything of a model, a tool or an agent."""
    return bool(_kind(span, span.attributes) != "other")


def step_of(span: TraceSpan, reading: Reading) -> Step:
    """The step that a span is."""
    attributes = span.attributes
    for event in span.events:
        if event.name == DETAILS:
            attributes = attributes | event.attributes | (event.body if isinstance(event.body, dict) else {})
    step = Step(
        id=span.span_id or f"({span.at})",
        parent=span.parent_id,
        at=span.at,
        kind=_kind(span, attributes),
        start=span.start,
        end=span.end,
        failed=True if attributes.get("error.type") else span.failed,
        why=span.status or _exception(span.events) or _text(attributes.get("error.type")),
        agent=first_text(attributes, AGENTS),
        rewards=_evaluations(span.events),
    )
    {"llm": _request, "tool": _tool_run, "agent": _agent}.get(step.kind, _nothing)(step, span, attributes, reading)
    return step


def _kind(span: TraceSpan, attributes: dict[str, Any]) -> Any:
    for found in (
        KINDS.get(str(attributes.get("openinference.span.kind"))),
        OPERATIONS.get(str(attributes.get("gen_ai.operation.name"))),
        KINDS.get(str(attributes.get("traceloop.span.kind"))),
    ):
        if found:
            return found
    if "openinference.span.kind" in attributes or "traceloop.span.kind" in attributes:
        return "other"
    if any(key in attributes and attributes[key] not in EMPTY for key in LLM_KEYS):
        return "llm"
    if any(key in attributes for key in ("gen_ai.tool.name", "ai.toolCall.name")):
        return "tool"
    if any(event.name.startswith("gen_ai.") and event.name.endswith((".message", "choice")) for event in span.events):
        return "llm"
    if any(event.name == DETAILS for event in span.events):
        return "llm"
    return "agent" if any(key in attributes for key in WHOLE) else "other"


# ---------------------------------------------------------------- requests


def _request(step: Step, span: TraceSpan, attributes: dict[str, Any], reading: Reading) -> None:
    lists = grouped(attributes)
    asked = _found(attributes, ASKED, "user", step, reading) or reading.lists.messages(lists, "user")
    system = attributes.get("gen_ai.system_instructions")
    if system is not None and not (asked and asked[0][0].kind == "system"):
        told = reading.messages(system, "system", step, "gen_ai.system_instructions")
        asked = [tuple(_as_system(message)) for message in told] + asked
    answered = _found(attributes, ANSWERED, "assistant", step, reading) or reading.lists.messages(lists, "assistant")
    answered = answered or reading.messages(_vercel(attributes), "assistant", step, "ai.response.toolCalls")
    if not asked and not answered:
        asked, answered = _events_of(step, span)
    if not asked and not answered:
        asked = reading.messages(attributes.get("input.value"), "user", step, "input.value")
        answered = reading.messages(attributes.get("output.value"), "assistant", step, "output.value")
    step.asked, step.answered = asked, answered
    step.content = bool(answered)
    step.usage = _usage(attributes)
    step.model = first_text(attributes, MODELS)
    step.ids = _ids(attributes)
    step.tools = _tools(step, attributes, lists)


def _agent(step: Step, span: TraceSpan, attributes: dict[str, Any], reading: Reading) -> None:
    """An agent; what it said, in case its requests to the model are not in the log."""
    lists = grouped(attributes)
    step.name = step.agent
    step.answered = reading.lists.messages(lists, "assistant") or _found(attributes, WHOLE, "user", step, reading)
    step.answered = step.answered or _found(attributes, ANSWERED, "assistant", step, reading)
    first = next((i for i, m in enumerate(step.answered) if m[0].kind not in ("system", "user")), len(step.answered))
    step.asked, step.answered = step.answered[:first], step.answered[first:]
    if step.answered and not step.asked:
        step.asked = reading.lists.messages(lists, "user") or _found(attributes, ASKED, "user", step, reading)
        step.asked = step.asked or reading.messages(attributes.get("input.value"), "user", step, "input.value")
    step.usage = _usage(attributes)


def _found(attributes: dict[str, Any], keys: Iterable[str], role: str, step: Step, reading: Reading) -> list[Message]:
    """The messages under the first of the keys that holds any."""
    for key in keys:
        logged = attributes.get(key)
        if logged is not None and logged not in EMPTY and (found := reading.messages(logged, role, step, key)):
            return found
    return []


def _as_system(message: Message) -> Iterable[Any]:
    return (piece("system", part.text) for part in message)


def _events_of(step: Step, span: TraceSpan) -> tuple[list[Message], list[Message]]:
    """Request and answer where each message is an event; older writers list the events in an attribute."""
    listed = unquoted(span.attributes.get("events"))
    events = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    told = [Happening(name, {}, item) for item in events if (name := _text(item.get("event.name")))]
    asked: list[Message] = []
    answered: list[Message] = []
    try:
        for role, message in _of_events([*span.events, *told]):
            if message.get("index"):
                step.notes.append(
                    ("other-samples", f"span {step.id}: one answer of several was gone on with: the first")
                )
            else:
                (answered if role == "choice" else asked).extend(_in_event(role, message))
    except InputError as error:
        step.notes.append(("broken-attribute", f"span {step.id}: {error}"))
    return asked, answered


def _of_events(events: Sequence[Happening]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The role, or `choice`, and the body of every event that is a message."""
    for event in events:
        name = event.name.removeprefix("gen_ai.").removesuffix(".message")
        if name == "choice" or (name in EVENTS and event.name.endswith(".message")):
            body = unquoted(event.body if event.body is not None else event.attributes.get("gen_ai.event.content"))
            yield name, body if isinstance(body, dict) else {key: unquoted(v) for key, v in event.attributes.items()}


def _in_event(role: str, body: dict[str, Any]) -> list[Message]:
    if role != "choice":
        return messages_of({"role": role, **body}, role)
    message = body.get("message", body)
    return messages_of(message if isinstance(message, dict) else {"content": message}, "assistant")


def _vercel(attributes: dict[str, Any]) -> list[Any]:
    """The answer as the AI SDK writes it: text and calls apart."""
    calls, text = unquoted(attributes.get("ai.response.toolCalls")), _text(attributes.get("ai.response.text"))
    said = [{"role": "assistant", "content": text}] if text else []
    return [*said, *(calls if isinstance(calls, list) else [])]


# ---------------------------------------------------------------- tools


def _tool_run(step: Step, span: TraceSpan, attributes: dict[str, Any], reading: Reading) -> None:
    step.name = first_text(attributes, TOOL_NAMES) or span.name.removeprefix("execute_tool ").strip() or None
    step.call_id = first_text(attributes, CALL_IDS)
    try:
        if (logged := _first(attributes, ARGUMENTS)) is not None:
            step.arguments = arguments_of(logged)
        result = _first(attributes, RESULTS)
        if result is None:
            told = [message for role, body in _of_events(span.events) for message in _in_event(role, body)]
            texts = [part.text for message in told[-1:] for part in message]
            result = "\n".join(texts) if texts else None
        if result is not None:
            step.result, call_id = returned(result)
            step.call_id = step.call_id or call_id
    except InputError as error:
        step.notes.append(("broken-attribute", f"span {step.id}: {error}"))


def returned(result: Any) -> tuple[str, str | None]:
    """The text of a result, and the call's id where the result is a serialised message that has it."""
    value = unquoted(result)
    if isinstance(value, dict) and isinstance(value.get("tool_call_id"), str) and "content" in value:
        return text_of(value["content"])[0], value["tool_call_id"]
    return (result if isinstance(result, str) else json_text(result)), None


def _tools(step: Step, attributes: dict[str, Any], lists: Grouped) -> tuple[Tool, ...]:
    """The tools that a request declares."""
    nodes = [node.get("tool", node) for node in dicts(elements(lists, "llm.tools"))]
    return declared(step, [node.get("json_schema", node) for node in dicts(nodes)], *map(attributes.get, TOOLS))


def declared(step: Step, *logged: Any) -> tuple[Tool, ...]:
    """The tools that the first of these values declares, if any does; what cannot be read is left out with a note."""
    for value in logged:
        if found := _declarations(unquoted(value)):
            try:
                return tools_of(msgspec.json.encode(found))
            except (InputError, RecursionError) as error:
                step.notes.append(("bad-tools", f"span {step.id}: {error}: left out"))
    return ()


def _declarations(value: Any) -> list[Any]:
    """The declarations in what a request holds: a list, or an object that has one somewhere."""
    if isinstance(value, list):
        found = [unquoted(item) for item in value]
        return [inner for item in found for inner in (_declarations(item) if _holds_tools(item) else [item])]
    if isinstance(value, dict):
        config = value.get("config")
        keys = ("function_tools", "output_tools", "function_declarations", "functionDeclarations", "tools")
        lists = [value.get(key) for key in keys] + [config.get("tools") if isinstance(config, dict) else None]
        return [item for each in lists if isinstance(each, list) for item in _declarations(each)]
    return []


def _holds_tools(item: Any) -> bool:
    return isinstance(item, dict) and ("function_declarations" in item or "functionDeclarations" in item)


# ---------------------------------------------------------------- the rest


def _usage(attributes: dict[str, Any]) -> dict[str, int | float] | None:
    counts = {name: count for name, keys in USAGE.items() if (count := _first(attributes, keys)) is not None}
    cost = _first(attributes, COSTS)
    return usage_of(counts, cost) if counts or cost is not None else None


def _evaluations(events: Iterable[Happening]) -> list[Reward]:
    """Scores that evaluators gave."""
    found = []
    for event in events:
        score = event.attributes.get("gen_ai.evaluation.score.value")
        if isinstance(score, int | float) and not isinstance(score, bool) and abs(score) <= LARGEST_NUMBER:
            found.append(Reward(float(score), "judge", name=_text(event.attributes.get("gen_ai.evaluation.name"))))
    return found


def _ids(attributes: dict[str, Any]) -> Ids | None:
    """Token ids, where a proxy in front of the model server keeps them."""
    prompt, sampled = (_whole(unquoted(attributes.get(key))) for key in ("prompt_token_ids", "response_token_ids"))
    return Ids(prompt, sampled) if prompt or sampled else None


def _whole(value: Any) -> list[int] | None:
    """A list of token ids; of several samples the first."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, list) and value and all(type(item) is int and 0 <= item < 2**53 for item in value):
        return value
    return None


def _exception(events: Iterable[Happening]) -> str | None:
    for event in events:
        if event.name == "exception":
            return _text(event.attributes.get("exception.message")) or _text(event.attributes.get("exception.type"))
    return None


def _first(attributes: dict[str, Any], keys: Iterable[str]) -> Any:
    return next((attributes[key] for key in keys if attributes.get(key) is not None), None)


def first_text(attributes: dict[str, Any], keys: Iterable[str]) -> str | None:
    return next((text for key in keys if (text := _text(attributes.get(key)))), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _nothing(step: Step, span: TraceSpan, attributes: dict[str, Any], reading: Reading) -> None:
    """Neither a model, nor a tool, nor an agent: it only stands around some."""
