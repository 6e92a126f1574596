"""Arguments against a JSON schema, as far as tools declare one: types, required fields, choices, no others."""

from __future__ import annotations

from typing import Any

__all__ = ["DEEPEST", "fault_of"]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
DEEPEST = 20


def fault_of(value: Any, schema: Any, at: str = "arguments", depth: int = 0) -> str | None:
    """The first thing that the schema forbids, in words; null where nothing is, or where it says what is not read here.

    Read are `type`, `enum`, `required`, `properties`, `additionalProperties: false` and `items` (JSON Schema 2020-12).
    """
    if not isinstance(schema, dict) or depth > DEEPEST:
        return None
    fault = _fault_of_type(value, schema.get("type"), at)
    if fault:
        return fault
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"{at} is {value!r:.60}, not one of {', '.join(map(repr, choices))[:80]}"
    if isinstance(value, dict):
        return _fault_of_fields(value, schema, at, depth)
    if isinstance(value, list):
        faults = (fault_of(one, schema.get("items"), f"{at}[{k}]", depth + 1) for k, one in enumerate(value))
        return next(filter(None, faults), None)
    return None


def _fault_of_type(value: Any, named: Any, at: str) -> str | None:
    names = named if isinstance(named, list) else [named]
    if not all(isinstance(name, str) and name in _TYPES for name in names) or any(_is(value, name) for name in names):
        return None
    return f"{at} is {value!r:.60}, not of type {' or '.join(names)}"


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _fault_of_fields(value: dict[str, Any], schema: dict[str, Any], at: str, depth: int) -> str | None:
    required = schema.get("required")
    for name in required if isinstance(required, list) else []:
        if name not in value:
            return f"{at} lack {name!r}, which is required"
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    for name, inner in value.items():
        if name in known:
            fault = fault_of(inner, known[name], f"{at}.{name}", depth + 1)
            if fault:
                return fault
        elif schema.get("additionalProperties") is False:
            return f"{at} have {name!r:.60}, which is not declared"
    return None
