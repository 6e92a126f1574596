"""Answers kept in a file, a line each, safe the moment they come."""

from __future__ import annotations

import base64
import fcntl
import json
import os
from pathlib import Path
from threading import Lock
from typing import IO

from trajcredit.errors import InputError

__all__ = ["FileAnswers"]

SCHEMA = "trajcredit.answer/1"
BEGINS = f'{{"schema": "{SCHEMA}", "key": "'.encode()


class FileAnswers:
    """What was paid for, by key, in a file of lines; a context manager, and one process at a time.

    A last line that a dying process left unfinished is dropped. InputError where the file holds anything else, or
    another process has it.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        self._kept: dict[str, bytes] = {}
        self._file: IO[bytes] = path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise InputError(f"{path}: another process is at work with these answers") from None
        try:
            self._read()
        except InputError:
            self._file.close()
            raise

    def __enter__(self) -> FileAnswers:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def get(self, key: str) -> bytes | None:
        """The answer, if there is one."""
        return self._kept.get(key)

    def put(self, key: str, answer: bytes) -> None:
        """Keep an answer; it is on the disk when this returns."""
        row = {"schema": SCHEMA, "key": key, "answer": base64.b64encode(answer).decode()}
        with self._lock:
            self._file.write(json.dumps(row).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._kept[key] = answer

    def _read(self) -> None:
        self._file.seek(0)
        good = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n") and _torn(line):
                break
            try:
                row = json.loads(line)
                if row["schema"] != SCHEMA:
                    raise ValueError
                self._kept[str(row["key"])] = base64.b64decode(row["answer"], validate=True)
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    f"{self._path}:{number}: expected a row of {SCHEMA}; without that line the others are used again, "
                    "and only what it held is asked for once more"
                ) from None
            good += len(line)
        self._file.truncate(good)


def _torn(line: bytes) -> bool:
    """Whether this is the beginning of a row of ours: nothing of another file is ever dropped."""
    return line.startswith(BEGINS) or BEGINS.startswith(line)
