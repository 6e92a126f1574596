"""A model on loopback that does what its script says: obedient, wrong, slow, flaky, malicious."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from trajcredit.judges.models import Model

__all__ = ["Asked", "Script", "Served", "completion", "data_of", "fair", "served"]

MARK = re.compile(r"\ADATA ([0-9a-f]{32})\n(.*)\nDATA \1\Z", re.DOTALL)


@dataclass
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The JSON between the delimiters."""
        return data_of(self.body)

    @property
    def ids(self) -> list[str]:
        """The segments that are asked about."""
        return [one["id"] for one in self.data["segments"]]


Script: TypeAlias = Callable[[Asked, int], "tuple[int, Any] | tuple[int, Any, dict[str, str]]"]
"""A request and its number from 0 -> status, body (JSON, or bytes as they are), and more headers."""


@dataclass
class Served:
    """A running server."""

    port: int
    asked: list[Asked] = field(default_factory=list)
    peak: int = 0
    """Most requests that were being answered at once."""

    def model(self, **more: Any) -> Model:
        """How it is configured."""
        base = f"http://127.0.0.1:{self.port}/v1"
        return Model(**{"name": "m", "base_url": base, "model": "scripted", "allow": ("127.0.0.1",), **more})


def data_of(body: dict[str, Any]) -> dict[str, Any]:
    """What a question holds between its delimiters, which stand nowhere else."""
    [_, user] = body["messages"]
    found = MARK.match(user["content"])
    assert found is not None
    assert user["content"].count(found[1]) == 2
    data: dict[str, Any] = json.loads(found[2])
    return data


def completion(content: Any, tokens: tuple[int, int] | None = (100, 10)) -> dict[str, Any]:
    """An answer around the text, or the JSON, of a model."""
    text = content if isinstance(content, str) else json.dumps(content)
    found: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    if tokens is not None:
        found["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return found


def fair(asked: Asked, number: int) -> tuple[int, Any]:
    """A model that blames failures and praises nothing."""
    rows = [
        {"id": one["id"], "score": -0.5 if any(s.get("failed") for s in one["spans"]) else 0.0, "reason": "so it says"}
        for one in asked.data["segments"]
    ]
    return 200, completion({"start": 0.5, "segments": rows})


@contextmanager
def served(script: Script) -> Iterator[Served]:
    """A server for as long as the block lasts."""
    lock, busy = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, dict(self.headers), body)
            with lock:
                number = len(found.asked)
                found.asked.append(asked)
                busy[0] += 1
                found.peak = max(found.peak, busy[0])
            try:
                status, answer, *more = script(asked, number)
            finally:
                with lock:
                    busy[0] -= 1
            text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            own = more[0] if more else {}
            for name, value in own.items():
                self.send_header(name, value)
            if not own.keys() & {"Content-Length", "Transfer-Encoding"}:
                self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = Served(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
