#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ra.py INTERFACE PREFIX: one router advertisement (RFC 4861) by this interface: hosts make themselves an address in this /64."""
import socket
import struct
import sys

interface, prefix = sys.argv[1:]
router = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
number = socket.if_nametoindex(interface)
router.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, number)
# 64 hops, a router for 1800 s; the prefix is on the link and for addresses, for an hour. The kernel writes the checksum.
frame = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 3600, 1800, 0)
router.sendto(frame + socket.inet_pton(socket.AF_INET6, prefix), ("ff02::1", 0, 0, number))
