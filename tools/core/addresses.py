"""Addresses of the public internet, apart from this machine's and its network's own."""

import ipaddress
import socket

NAT64 = ipaddress.ip_network("64:ff9b::/96")
"""IPv6-only networks reach IPv4 addresses through it."""
NETWORK_BITS = 64
"""The first bits of an IPv6 address, which all devices of a home share."""


def is_foreign(address: str) -> bool:
    """True for a public address that belongs neither to this machine nor to its own network: at home every device has a
    public IPv6 address."""
    ip = _parsed(address)
    # 6to4 wraps any IPv4 address, the private ones too; nobody serves pictures there.
    odd = isinstance(ip, ipaddress.IPv6Address) and (ip.sixtofour or ip.is_site_local or ip.is_reserved)
    if odd or not ip.is_global or ip.is_multicast:
        return False
    with socket.socket(socket.AF_INET if ip.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(ip), 9))  # sends nothing: asks the kernel which of our addresses leads there
        except OSError:  # no route: nothing will be reached
            return True
        own = _parsed(probe.getsockname()[0])
    return own != ip if ip.version == 4 else int(own) >> NETWORK_BITS != int(ip) >> NETWORK_BITS


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address without its zone; the IPv4 address that an IPv6 one stands for."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip in NAT64):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip
