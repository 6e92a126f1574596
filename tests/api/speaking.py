"""The app spoken to as a client does; every answer is held to what the OpenAPI document declares for its route."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from httpx2 import Response
from pydantic import TypeAdapter
from starlette.routing import Match
from starlette.testclient import TestClient

from trajcredit.api.app import BASE, create_app
from trajcredit.api.guard import HEADERS
from trajcredit.api.intake import Limits
from trajcredit.api.models import IngestProblem, LabelProblem, OpinionProblem, Problem, RewardProblem
from trajcredit.api.routes import API
from trajcredit.api.routes.site import WEB
from trajcredit.service.runner import see_through
from trajcredit.store import Store

__all__ = ["Api", "chat", "lines"]

LOGS = Path(__file__).parents[1] / "data"


class Api:
    """An app and its client. `ask` gives the decoded answer and checks all that every answer has to be."""

    def __init__(
        self, store: Store, hosts: Sequence[str] = (), limits: Limits | None = None, web: Path | None = None
    ) -> None:
        self.store = store
        self.app = create_app(store, hosts, limits=limits, web=WEB if web is None else web)
        self.client = TestClient(self.app, base_url="http://localhost", raise_server_exceptions=False)

    def send(self, method: str, path: str, **options: Any) -> Response:
        """The response; a path that begins with / is below /api/v1."""
        response: Response = self.client.request(method, f"{BASE}{path}", **options)
        for name, value in HEADERS.items():
            assert response.headers[name] == value
        assert response.headers["Cache-Control"] == "no-store"
        return response

    def ask(self, method: str, path: str, expected: int = 200, **options: Any) -> Any:
        """The answer as plain data, which fits the model that its route declares."""
        response = self.send(method, path, **options)
        assert response.status_code == expected, response.text
        if expected >= 400:
            return problem(response)
        assert response.headers["Content-Type"] == "application/json"
        TypeAdapter(declared(method, response.request.url.raw_path.decode().partition("?")[0])).validate_json(
            response.content
        )
        return json.loads(response.content, parse_constant=_refuse)

    def get(self, path: str, expected: int = 200, **query: Any) -> Any:
        """The answer to a GET."""
        return self.ask("GET", path, expected, params=query or None)

    def upload(self, body: bytes | str, expected: int = 200, **query: Any) -> Any:
        """The answer to an upload."""
        return self.ask("POST", "/trajectories", expected, content=body, params=query or None)

    def run(self, attributor: str, expected: int = 202, **asked: Any) -> Any:
        """A run, seen through to its end."""
        run = self.ask("POST", "/runs", expected, json={"attributor": attributor, **asked})
        if expected == 202:
            see_through(self.store, "default", run["id"], lambda done, total: None)
            run = self.get(f"/runs/{run['id']}")
        return run


def problem(response: Response) -> Any:
    """An RFC 9457 document that fits its status."""
    assert response.headers["Content-Type"] == "application/problem+json"
    data = json.loads(response.content, parse_constant=_refuse)
    results: dict[str, type[Problem]] = {
        "created": IngestProblem,
        "appended": RewardProblem,
        "given": LabelProblem,
        "kept": OpinionProblem,
    }
    model = next((kind for key, kind in results.items() if key in data), Problem)
    found = model.model_validate(data)
    assert found.status == response.status_code
    assert found.instance == response.headers["X-Request-Id"]
    assert found.detail
    return data


def declared(method: str, path: str) -> Any:
    """The model that the route of this request declares."""
    scope = {"type": "http", "method": method, "path": path.removeprefix(BASE), "root_path": ""}
    for route in (route for router in API for route in router.routes):
        if route.matches(scope)[0] is Match.FULL:
            assert route.response_model is not None  # type: ignore[attr-defined]  # all of them are of the API
            return route.response_model  # type: ignore[attr-defined]
    raise AssertionError(f"no route for {method} {path}")


def chat(
    name: str, reward: float | None = 1.0, group: str = "g", said: str = "FL-2210 leaves at nine."
) -> dict[str, Any]:
    """A rollout as a trainer logs it: a question, a call with its result, an answer that uses it."""
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"to": "PAR"}'}}
    return {
        "trajectory_id": name,
        "group_id": group,
        "task_id": "t",
        "reward": reward,
        "messages": [
            {"role": "user", "content": "Which flight to Paris?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"flight": "FL-2210", "at": "9:00"}'},
            {"role": "assistant", "content": said},
        ],
    }


def lines(*rows: dict[str, Any]) -> bytes:
    """JSONL."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _refuse(word: str) -> None:
    raise AssertionError(f"the answer holds {word}, which is no JSON")
