"""The server: opens the database, works on runs, answers until it is told to stop."""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType

import uvicorn

from trajcredit.api.app import create_app
from trajcredit.api.streams import Streams
from trajcredit.errors import InputError
from trajcredit.service.judge_runner import JudgeRunner, configured
from trajcredit.service.opening import open_store
from trajcredit.service.runner import Runner
from trajcredit.service.warming import warm

__all__ = ["serve"]

STOPS = (signal.SIGINT, signal.SIGTERM)
GRACE = 10
"""Seconds that answers under way have once the server is told to stop."""
BACKLOG = 512
_log = logging.getLogger(__name__)


def serve(
    url_or_path: str,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    allow_remote: bool = False,
    allowed_hosts: Sequence[str] = (),
    tokenizers: Path | None = None,
    judges: Path | None = None,
) -> None:
    """Serve a database until SIGINT or SIGTERM; `on_ready` hears the URL once requests are answered there.

    Port 0 takes a free one. Whoever reaches the server may read and change everything, so a host that others can
    reach is refused unless `allow_remote`; `allowed_hosts` are the names it then goes by. `tokenizers` is the folder
    of those that exports may name, `judges` the file with the models that judgings may ask.
    """
    models = configured(judges)
    if not _is_loopback(host) and not allow_remote:
        raise InputError(
            f"host {host!r} can be reached from other machines, and the server asks nobody for a key: "
            "serve on 127.0.0.1, e.g. through an SSH tunnel, or allow it explicitly"
        )
    with closing(_listening(host, port)) as listening, closing(open_store(url_or_path)) as store:
        runner, judging = Runner(store), JudgeRunner(store, models)
        names = (*allowed_hosts, *(() if _is_any(host) else (_in_url(host),)))
        app = create_app(store, names, runner, tokenizers=tokenizers, judges=judging)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE,
        )
        shown = "127.0.0.1" if _is_any(host) else _in_url(host)
        server = _Server(config, lambda: on_ready(f"http://{shown}:{listening.getsockname()[1]}"), app.state.streams)
        runner.start()
        judging.start()
        threading.Thread(target=warm, name="warm", daemon=True).start()
        try:
            server.run(sockets=[listening])
        finally:
            judging.stop()
            runner.stop()


class _Server(uvicorn.Server):
    """Tells when it listens; and a signal ends it, not the process: the runner and the database come after it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], streams: Streams) -> None:
        super().__init__(config)
        self._ready, self._streams = ready, streams

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._streams.stopping = True
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self._stop) for number in STOPS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit  # who asks twice does not want to wait
        self.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    """A socket of that address; InputError says why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"cannot serve on {host}:{port}: {error.strerror or error}") from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise InputError(f"cannot serve on {host}:{port}: {error.strerror or error}") from error
    return made


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_any(host: str) -> bool:
    return host in ("0.0.0.0", "::", "[::]", "")  # noqa: S104  # compared with, not listened on


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
