#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lldp.py INTERFACE SYSTEM[#CHASSIS] PORT [MAC]: one frame of LLDP by this interface, valid for TTL s (120). The chassis is a local id, else SYSTEM.

MAC: the sender's address, if it is not the interface's."""
import os
import socket
import sys


def tlv(kind, value):
    return bytes([kind << 1, len(value)]) + value


interface, system, port, *mac = sys.argv[1:]
system, _, chassis = system.partition("#")
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind((interface, 0))
frame = (
    bytes.fromhex("0180c200000e" + "".join(mac)) + (b"" if mac else link.getsockname()[4]) + b"\x88\xcc"
    + tlv(1, b"\7" + (chassis or system).encode()) + tlv(2, b"\5" + port.encode()) + tlv(3, int(os.environ.get("TTL", 120)).to_bytes(2, "big"))
    + tlv(5, system.encode()) + b"\0\0")
link.send(frame.ljust(60, b"\0"))
