"""Published ports, in the short and the long way of writing them."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from swarmtest.stack import Port
from swarmtest.stack.reader import Reader, whole_number


def read_ports(reader: Reader) -> tuple[Port, ...]:
    """The ports of a service; raises ``StackError`` for what Docker would refuse."""
    found = reader.body.get("ports") or []
    if not isinstance(found, list):
        raise reader.error("expected a list of ports", "ports")
    ports: list[Port] = []
    for item in found:
        try:
            ports += ports_of(item)
        except ValueError as error:
            raise reader.error(f'expected a port such as "8080:80", found {item!r} ({error})', "ports") from error
    return tuple(ports)


def ports_of(item: object) -> list[Port]:
    """The ports that one entry of the list publishes; raises ``ValueError`` for what Docker would refuse."""
    return [_long_port(item)] if isinstance(item, dict) else _short_ports(str(item))


def _long_port(item: Mapping[str, Any]) -> Port:
    published = item.get("published")
    mode = str(item.get("mode") or "ingress")
    if mode not in ("ingress", "host"):
        raise ValueError(f"the mode is ingress or host, not {mode!r}")
    return Port(
        target=_number(item.get("target")),
        published=_number(published) if published not in (None, 0, "0", "") else None,
        mode=mode,
        protocol=_protocol(str(item.get("protocol") or "tcp")),
    )


def _short_ports(text: str) -> list[Port]:
    """``[host:][published:]target[/protocol]``, each of the two a number or a range.

    Docker takes a range on the outside of one port, too, and publishes the port at each of them.
    """
    body, _, protocol = text.partition("/")
    protocol = protocol.partition("/")[0]
    *rest, targets = body.rsplit(":", 2)
    published = rest[-1] if rest else ""
    if len(rest) == 2 and rest[0]:
        _address(rest[0])
    numbers = _range(targets)
    outside: list[int | None] = [port or None for port in _range(published)] if published else [None] * len(numbers)
    if len(numbers) == 1:
        numbers *= len(outside)
    if len(numbers) != len(outside):
        raise ValueError("the two ranges have different lengths")
    named = _protocol(protocol or "tcp")
    return [Port(target, out, protocol=named) for target, out in zip(numbers, outside, strict=True)]


def _range(text: str) -> list[int]:
    first, last = (*text.split("-"), text)[:2]  # what's behind a second dash, docker/go-connections takes no notice of
    least, most = _port_text(first), _port_text(last)
    if least > most:
        raise ValueError(f"the range {text} ends before it begins")
    return list(range(least, most + 1))


def _port_text(text: str) -> int:
    """Zero is none to be had from outside, and Docker takes it."""
    if not (text.isascii() and text.isdigit() and int(text.lstrip("0")[:6] or 0) < 65536):
        raise ValueError(f"a port is a number from 1 to 65535, not {text!r}")
    return int(text)


def _address(text: str) -> None:
    """The address of a host before the ports; IPv6 in brackets, or as it is."""
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        ip_address(inner.partition("%")[0])
    except ValueError:
        raise ValueError(f"{text!r} is no IP address") from None


def _number(value: object) -> int:
    number = int(value) if isinstance(value, float) and value.is_integer() else whole_number(value)
    if number is None or not 0 < number < 65536:
        raise ValueError(f"a port is a number from 1 to 65535, not {value!r}")
    return number


def _protocol(text: str) -> str:
    if text.lower() not in ("tcp", "udp", "sctp"):
        raise ValueError(f"the protocol is tcp, udp or sctp, not {text!r}")
    return text.lower()
