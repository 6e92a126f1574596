"""Models that judges may ask, as the operator configures them; no request and no log can name another address.

# judges.toml, named by --judges or the variable TRAJCREDIT_JUDGES
[judges.fair]
base_url = "https://models.example.com/v1"
model = "big-model-2"
api_key_env = "FAIR_API_KEY"
price_in = 0.5
price_out = 2.0

[judges.local]
path = "/srv/reward-model"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

from trajcredit.errors import InputError
from trajcredit.judges.addresses import allowed_host, host_or_network

__all__ = ["VARIABLE", "Configured", "Model", "Weights", "configured", "load"]

VARIABLE = "TRAJCREDIT_JUDGES"
"""The environment variable with the path of the file."""
LONGEST = 600.0
_SECRETS = ("key", "api_key", "token", "password", "authorization")


@dataclass(frozen=True, slots=True)
class Model:
    """One model: an OpenAI-compatible address to ask. The key itself is never in here: only where to find it."""

    name: str
    """What requests call it."""
    base_url: str
    model: str
    """The server's name of the model."""
    api_key_env: str | None = None
    """The environment variable that holds the key; none where the server wants none."""
    price_in: float | None = None
    """Per million tokens of the question; the unit is the operator's."""
    price_out: float | None = None
    """Per million tokens of the answer."""
    concurrency: int = 4
    """Requests at once, 1..64."""
    timeout: float = 30.0
    """Seconds for a whole answer, to 600."""
    attempts: int = 4
    """How often one question is sent where the server is busy or away, 1..20."""
    allow: tuple[str, ...] = ()
    """Hosts, or networks such as 10.0.0.0/8, that may be asked though they are private; http is only for these."""

    @property
    def host(self) -> str:
        """The host that is asked."""
        return urlsplit(self.base_url).hostname or ""

    def key(self) -> str | None:
        """The key, read now; InputError where its variable is empty."""
        if self.api_key_env is None:
            return None
        found = os.environ.get(self.api_key_env, "").strip()
        if not found:
            raise InputError(f"judge model {self.name!r}: the environment variable {self.api_key_env} is not set")
        if not (found.isascii() and found.isprintable()):
            raise InputError(f"judge model {self.name!r}: {self.api_key_env} holds characters that no header may have")
        return found

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost, in the unit of the prices; 0 where none are configured."""
        return (tokens_in * (self.price_in or 0.0) + tokens_out * (self.price_out or 0.0)) / 1e6


@dataclass(frozen=True, slots=True)
class Weights:
    """One local reward model: a folder that the operator names."""

    name: str
    path: str

    @property
    def model(self) -> str:
        """What people are told it is: the last part of its path."""
        return Path(self.path).name


Configured: TypeAlias = "Model | Weights"


def configured(path: Path | None = None) -> dict[str, Configured]:
    """The models of the file given, else of the one that the environment names, else none."""
    if path is None:
        named = os.environ.get(VARIABLE)
        return load(Path(named)) if named else {}
    return load(path)


def load(path: Path) -> dict[str, Configured]:
    """The models of a file by name; InputError names the key or value that does not belong."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    for key in table:
        if key != "judges":
            raise InputError(f"{path}: unknown key {key!r}; expected tables [judges.NAME]")
    found = table.get("judges", {})
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise InputError(f"{path}: expected tables [judges.NAME]")
    kinds: dict[bool, Callable[..., Configured]] = {True: _weights, False: _model}
    return {name: kinds["path" in given](f"{path}: [judges.{name}]", name, given) for name, given in found.items()}


def _weights(place: str, name: str, given: Mapping[str, Any]) -> Weights:
    for key in given:
        if key != "path":
            raise InputError(f"{place} unknown key {key!r}: a table with `path` is a local model, and has nothing else")
    if not isinstance(given["path"], str) or not Path(given["path"]).is_dir():
        raise InputError(f"{place} path: expected a folder that is there, found {given['path']!r}")
    return Weights(name, given["path"])


def _model(place: str, name: str, given: Mapping[str, Any]) -> Model:
    for key in given:
        if key in _SECRETS:
            raise InputError(f"{place} {key}: no key stands in this file; api_key_env names the variable that holds it")
        if key == "name" or key not in Model.__dataclass_fields__:
            known = ", ".join(one for one in Model.__dataclass_fields__ if one != "name")
            raise InputError(f"{place} unknown key {key!r}; known: {known}")
    for key in ("base_url", "model"):
        if not isinstance(given.get(key), str) or not given[key].strip():
            raise InputError(f"{place} {key}: expected text, found {given.get(key)!r}")
    env = given.get("api_key_env")
    if env is not None and not (isinstance(env, str) and env.isidentifier()):
        raise InputError(f"{place} api_key_env: expected the name of an environment variable")
    allow = given.get("allow", [])
    if not (isinstance(allow, list) and all(isinstance(one, str) and one.strip() for one in allow)):
        raise InputError(f"{place} allow: expected a list of hosts or networks, found {allow!r}")
    for one in allow:
        if not host_or_network(one.strip()):
            raise InputError(f"{place} allow: expected a host or a network such as 10.0.0.0/8, found {one!r}")
    made = Model(
        name=name,
        base_url=given["base_url"].strip().rstrip("/"),
        model=given["model"],
        api_key_env=env,
        price_in=_number(place, given, "price_in", 0, 1e9),
        price_out=_number(place, given, "price_out", 0, 1e9),
        concurrency=_whole(place, given, "concurrency", 64),
        timeout=_number(place, given, "timeout", 0.01, LONGEST) or 30.0,
        attempts=_whole(place, given, "attempts", 20),
        allow=tuple(one.strip().lower() for one in allow),
    )
    _check_address(place, made)
    return made


def _check_address(place: str, model: Model) -> None:
    try:
        url = urlsplit(model.base_url)
        port = url.port
    except ValueError as error:
        raise InputError(f"{place} base_url: {error}") from error
    wrong = _wrong(url, port)
    if wrong is None and url.scheme == "http" and not allowed_host(url.hostname or "", model.allow):
        wrong = "http sends the key in the clear; it is for hosts in `allow` only"
    if wrong is not None:
        raise InputError(f"{place} base_url: {wrong}")


def _wrong(url: SplitResult, port: int | None) -> str | None:
    if url.scheme not in ("https", "http"):
        return "expected an address that begins with https://"
    if url.username is not None or url.password is not None:
        return "no user and no password may stand in it; api_key_env names the variable that holds the key"
    if url.query or url.fragment or "?" in url.geturl() or "#" in url.geturl():
        return "no ? and no # may stand in it"
    host = url.hostname
    if not host or not host.isascii() or any(c.isspace() or c in "\\%" for c in url.netloc + url.path):
        return "expected a host of ASCII letters, digits, dots and hyphens (others as xn--...), a path without escapes"
    return None if port is None or 0 < port < 65536 else "no such port"


def _number(place: str, given: Mapping[str, Any], key: str, low: float, high: float) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(f"{place} {key}: expected a number from {low:g} to {high:g}, found {value!r}")
    return float(value)


def _whole(place: str, given: Mapping[str, Any], key: str, high: int) -> int:
    value = given.get(key, Model.__dataclass_fields__[key].default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high:
        raise InputError(f"{place} {key}: expected a whole number from 1 to {high}, found {value!r}")
    return value
