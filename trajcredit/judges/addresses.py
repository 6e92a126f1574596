"""Which addresses may be asked: a name is looked up once, and everything private is refused unless it is allowed."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, TypeAlias

from trajcredit.errors import JudgeError

__all__ = ["ForbiddenError", "Lookup", "allowed_host", "forbidden", "host_or_network", "resolved"]

Lookup: TypeAlias = Callable[..., list[Any]]
"""`socket.getaddrinfo`, or what stands in for it in tests."""
METADATA = (IPv4Address("168.63.129.16"), IPv4Address("169.254.169.254"), IPv6Address("fd00:ec2::254"))
"""Where clouds tell machines their secrets; the first is public by its number."""
HOST = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
NAT64 = ip_network("64:ff9b::/96")
SPECIAL = tuple(
    ip_network(one) for one in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "3fff::/20", "fec0::/10")
)
"""Not of the public internet (RFC 6890, 7526, 8215, 9637, 3879), though some versions of Python take them for it."""


class ForbiddenError(JudgeError):
    """An address that no judge may ask; nothing was sent."""


def allowed_host(host: str, allow: Iterable[str]) -> bool:
    """Whether the operator lists this very host, or a network that its address, written out, lies in."""
    host = host.lower().rstrip(".")
    return any(host == one.rstrip(".") or _within(host, one) for one in allow)


def host_or_network(text: str) -> bool:
    """Whether an operator may list this: an address, a network without bits outside its mask, or the name of a host."""
    try:
        ip_network(text.strip("[]"))
    except ValueError:
        return (
            "/" not in text and HOST.fullmatch(text) is not None and not text.rstrip(".").rpartition(".")[2].isdigit()
        )
    return True


def resolved(host: str, port: int, allow: tuple[str, ...], lookup: Lookup = socket.getaddrinfo) -> tuple[int, Any]:
    """Family and socket address to connect to: of one lookup, so that no second answer can be another.

    ForbiddenError where any address that the name has is private and neither host nor network are in `allow`: a name
    with one good and one bad address is not used. JudgeError where there is no such name.
    """
    try:
        found = lookup(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise JudgeError(
            f"no address of {host}: {getattr(error, 'strerror', None) or 'it cannot be looked up'}"
        ) from None
    for *_, place in found:
        address = ip_address(str(place[0]).partition("%")[0])
        if forbidden(address) and not (allowed_host(host, allow) or any(_within(str(address), one) for one in allow)):
            raise ForbiddenError(f"{host} is at a private address, and it is not in `allow` of the judge's settings")
    if not found:
        raise JudgeError(f"no address of {host}")
    family, *_, place = found[0]
    return int(family), place


def forbidden(address: IPv4Address | IPv6Address) -> bool:
    """Whether this is no address of the public internet, in whatever form another one is wrapped in it."""
    if isinstance(address, IPv6Address):
        if address.teredo is not None:
            return True
        if address in NAT64:
            return forbidden(IPv4Address(int(address) & 0xFFFFFFFF))
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return forbidden(inner)
        if int(address) >> 32 == 0:  # the old form of an IPv4 address in an IPv6 one
            return True
    if address in METADATA or any(address in network for network in SPECIAL):
        return True
    return not address.is_global or address.is_multicast or address.is_reserved


def _within(host: str, network: str) -> bool:
    try:
        return ip_address(host.strip("[]")) in ip_network(network)
    except ValueError:
        return False
