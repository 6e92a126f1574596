"""One question to one server: looked up once, connected to that address, no redirects, no proxies, bounded in all."""

from __future__ import annotations

import socket
import ssl
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException, IncompleteRead
from threading import Timer
from time import monotonic
from urllib.parse import urlsplit

from trajcredit.errors import JudgeError
from trajcredit.judges.addresses import Lookup, resolved
from trajcredit.judges.models import Model

__all__ = ["LARGEST", "AwayError", "Reply", "post", "redacted"]

LARGEST = 1 << 20
"""Bytes of an answer."""


class AwayError(JudgeError):
    """No answer came: the server cannot be reached, broke off, or took too long. Asking again may help."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered; the key is not in it, even where the server sent it back."""

    status: int
    body: bytes = field(repr=False)
    retry_after: str | None = None


def post(model: Model, path: str, body: bytes, lookup: Lookup = socket.getaddrinfo) -> Reply:
    """The answer to a JSON body; AwayError where none came, ForbiddenError where the address may not be asked.

    `model.timeout` is for all of it, from the lookup of the name to the last byte, however slowly bytes come.
    """
    url, key = urlsplit(model.base_url), model.key()
    host, secure = model.host, url.scheme == "https"
    port = url.port or (443 if secure else 80)
    began = monotonic()
    family, place = resolved(host, port, model.allow, lookup)
    left = model.timeout - (monotonic() - began)
    if left <= 0:
        raise AwayError(f"{host} took longer than {model.timeout:g} s")
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "Connection": "close",
    }
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    sock = socket.socket(family, socket.SOCK_STREAM)
    live, ended = [sock], list[bool]()

    def end() -> None:
        ended.append(True)
        with suppress(OSError):
            socket.socket.shutdown(live[-1], socket.SHUT_RDWR)  # wakes whoever waits for bytes

    timer = Timer(left, end)
    timer.daemon = True
    connection = HTTPConnection(host, port)
    with closing(sock), closing(connection):
        timer.start()
        try:
            sock.settimeout(left)
            sock.connect(place)
            if secure and not ended:
                wrapped = _tls().wrap_socket(sock, do_handshake_on_connect=False, server_hostname=host)
                live.append(wrapped)
                if not ended:
                    wrapped.do_handshake()
            if ended:
                raise TimeoutError  # the clock ran out between two steps, where nothing waited to be woken
            connection.sock, connection.auto_open = live[-1], 0  # it never connects by itself, to whatever address
            connection.request("POST", f"{url.path}{path}", body, headers)
            reply = connection.getresponse()
            found = reply.read(LARGEST + 1)
            status, wait = reply.status, reply.getheader("Retry-After")
            if reply.length and len(found) <= LARGEST:  # http.client takes a short body without a word
                raise IncompleteRead(b"", reply.length)
        except (OSError, HTTPException, ValueError) as error:
            raise AwayError(_said(model, error, bool(ended))) from None  # what it quotes may hold the key
        finally:
            timer.cancel()
            live[-1].close()
    if ended:
        raise AwayError(f"{host} took longer than {model.timeout:g} s")
    if len(found) > LARGEST:
        raise JudgeError(f"{host} answered with more than {LARGEST:,} bytes")
    return Reply(status, redacted(found.decode("utf-8", "replace"), key).encode(), wait)


def redacted(text: str, key: str | None) -> str:
    """The text without the key."""
    return text.replace(key, "[key]") if key else text


def _said(model: Model, error: Exception, ended: bool) -> str:
    if ended or isinstance(error, TimeoutError):
        return f"{model.host} took longer than {model.timeout:g} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"{model.host} has no certificate to trust: {error.verify_message}"
    if isinstance(error, OSError) and error.strerror:
        return f"{model.host} cannot be reached: {error.strerror}"
    if isinstance(error, IncompleteRead):
        return f"{model.host} broke off in the middle of its answer"
    return f"{model.host} broke off: {type(error).__name__}"


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
