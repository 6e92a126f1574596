"""A real server in a process of its own, for what only sockets, signals and memory show."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

__all__ = ["Server", "served"]

CODE = """
import sys
from trajcredit.api import serving
serving.serve(sys.argv[1], "127.0.0.1", 0, lambda url: print(url, flush=True))
"""
PATIENCE = 60.0
"""Seconds after which a test gives up."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where it listens, and its process."""

    port: int
    process: subprocess.Popen[str]

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of one answer. A body that is an iterator is sent in chunks, without its length."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}), encode_chunked=isinstance(body, Iterator))
            answer: HTTPResponse = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def socket(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def resident(self) -> int:
        """Bytes of memory it has had at most."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) << 10
        raise AssertionError("no VmHWM")

    def forget_peak(self) -> int:
        """From now on `resident` counts from what it has now."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        return self.resident()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code after a signal."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def served(database: Path | str) -> Iterator[Server]:
    """A server of that database, killed at the end where it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(database)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url
        yield Server(int(url.rpartition(":")[2]), process)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()
