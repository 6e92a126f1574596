"""T11: over TLS the address that was looked up is asked for the name that was configured, and proves to be it."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from trajcredit.judges import llm_client
from trajcredit.judges.llm_client import AwayError, post
from trajcredit.judges.models import Model

PEM = Path(__file__).with_name("my_model.pem")
"""Certificate and key of my.model, signed by itself and trusted by nobody but these tests."""
KEY = "sk-secret-123"


@dataclass
class Secured:
    """What a server saw."""

    port: int
    names: list[str | None] = field(default_factory=list)
    """Which name was asked for in each handshake."""
    heard: bytes = b""
    """What came after a handshake."""


@contextmanager
def _secured() -> Iterator[Secured]:
    """A server that says {} to one request, as my.model."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Secured(listener.getsockname()[1])
        context.sni_callback = lambda _socket, name, _context: found.names.append(name)
        thread = threading.Thread(target=_answer, args=(listener, context, found), daemon=True)
        thread.start()
        yield found
        thread.join(5)
        assert not thread.is_alive()


def _answer(listener: socket.socket, context: ssl.SSLContext, found: Secured) -> None:
    peer, _ = listener.accept()
    with peer:
        try:
            with context.wrap_socket(peer, server_side=True) as secure:
                while not found.heard.endswith(b"\r\n\r\n{}"):
                    found.heard += secure.recv(65536)
                secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        except OSError:
            return


def _asked(name: str, port: int) -> llm_client.Reply:
    def lookup(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", ("127.0.0.1", port))]

    model = Model("m", f"https://{name}:{port}/v1", "x", "MODEL_KEY", timeout=5.0, allow=(name,))
    return post(model, "/chat/completions", b"{}", lookup)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)


@pytest.fixture
def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context(cafile=str(PEM))
    monkeypatch.setattr(llm_client, "_tls", lambda: context)


@pytest.mark.usefixtures("_trusted")
def test_t11_the_name_is_asked_for_and_checked_at_the_address_that_was_found() -> None:
    with _secured() as server:
        assert _asked("my.model", server.port).body == b"{}"
    assert server.names == ["my.model"]
    assert f"Host: my.model:{server.port}".encode() in server.heard
    assert f"Authorization: Bearer {KEY}".encode() in server.heard


@pytest.mark.usefixtures("_trusted")
def test_t11_whoever_has_the_address_and_not_the_name_hears_no_key() -> None:
    with _secured() as server, pytest.raises(AwayError, match="no certificate to trust") as caught:
        _asked("other.model", server.port)
    assert (server.names, server.heard) == (["other.model"], b"")
    assert KEY not in str(caught.value)


def test_t11_a_certificate_that_nobody_vouches_for_hears_no_key() -> None:
    with _secured() as server, pytest.raises(AwayError, match="no certificate to trust"):
        _asked("my.model", server.port)
    assert server.heard == b""


def test_t11_a_handshake_that_never_ends_is_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = Model("m", f"https://127.0.0.1:{silent.getsockname()[1]}/v1", "x", timeout=0.1, allow=("127.0.0.0/8",))
        with pytest.raises(AwayError, match=r"took longer than 0\.1 s"):
            post(model, "/chat/completions", b"{}")
