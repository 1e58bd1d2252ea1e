"""Which addresses are of the public internet, and which of this machine or its network."""

import ipaddress
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

NAT64 = ipaddress.ip_network("64:ff9b::/96")
ROUTES = Path("/proc/net")
"""Where Linux lists its routes; on other systems only this machine's own addresses are known."""

WIDEST = {4: 16, 6: 48}
"""Prefix lengths: a wider route without a gateway is not a home's network but a tunnel, which leads everywhere."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def foreign(address: str) -> bool:
    """Whether an address is public, and neither this machine's nor of a network that it is directly connected to.

    At home every device has such an IPv6 address.
    """
    ip = _parsed(address)
    return _public(ip) and not _is_this_machine(ip) and not any(ip in network for network in _connected_networks())


def public(address: str) -> bool:
    """Whether an address is one of the public internet, also when it carries an IPv4 address inside."""
    return _public(_parsed(address))


def _parsed(address: str) -> Address:
    """An address without its zone; the IPv4 address that an IPv6 one stands for."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip in NAT64):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip


def _public(ip: Address) -> bool:
    if isinstance(ip, ipaddress.IPv6Address):
        tunnelled = ip.sixtofour or (ip.teredo and ip.teredo[1])
        if ip.is_site_local or ip.is_reserved or (tunnelled and not _public(tunnelled)):
            return False
    return ip.is_global and not ip.is_multicast


def _is_this_machine(ip: Address) -> bool:
    """Whether packets to it would come from itself; a datagram socket that connects sends none."""
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(ip), 9))
            return _parsed(probe.getsockname()[0]) == ip
    except OSError:  # no route leads to it
        return False


def _connected_networks() -> Iterator[Network]:
    for line in _lines("ipv6_route"):
        destination, prefix, _, _, gateway, *_ = line.split()
        if not int(gateway, 16) and int(prefix, 16) >= WIDEST[6]:
            yield ipaddress.IPv6Network((bytes.fromhex(destination), int(prefix, 16)))
    for line in _lines("route")[1:]:
        _, destination, gateway, _, _, _, _, mask, *_ = line.split()
        prefix_length = int(mask, 16).bit_count()
        if not int(gateway, 16) and prefix_length >= WIDEST[4]:
            yield ipaddress.IPv4Network((struct.pack("=I", int(destination, 16)), prefix_length))


def _lines(name: str) -> list[str]:
    try:
        return (ROUTES / name).read_text(encoding="ascii").splitlines()
    except OSError:
        return []
