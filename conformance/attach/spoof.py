#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""spoof.py listen PORT: print "ready", and then the sender of each UDP datagram, at all addresses of both families.
spoof.py send INTERFACE MAC ADDRESS PORT SENDER...: put a frame to MAC on the interface for each SENDER, a UDP datagram
to ADDRESS that seems to come from SENDER. SENDER+tag: behind two VLAN tags of VLAN 0.
"""
import ipaddress
import socket
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packet(src, dst, port):
    udp = struct.pack("!HHHH", 4000, port, 12, 0) + b"data"
    if dst.version == 4:
        head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0) + src.packed + dst.packed
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp
    pseudo = src.packed + dst.packed + struct.pack("!II", len(udp), 17)
    udp = udp[:6] + struct.pack("!H", checksum(pseudo + udp)) + udp[8:]
    return struct.pack("!IHBB", 6 << 28, len(udp), 17, 64) + src.packed + dst.packed + udp


def send(interface, mac, address, port, senders):
    dst = ipaddress.ip_address(address)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    wire.bind((interface, 0))
    for sender in senders:
        text, _, tagged = sender.partition("+")
        kind = struct.pack("!H", 0x0800 if dst.version == 4 else 0x86DD)
        tags = struct.pack("!HHHH", 0x8100, 0, 0x8100, 0) if tagged else b""
        frame = packet(ipaddress.ip_address(text), dst, int(port))
        wire.send(bytes.fromhex(mac.replace(":", "")) + b"\2\0\0\0\0\1" + tags + kind + frame)


def listen(port):
    here = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    here.bind(("::", int(port)))
    print("ready", flush=True)
    while True:
        sender = here.recvfrom(64)[1][0]
        print(sender.removeprefix("::ffff:"), flush=True)


if sys.argv[1] == "listen":
    listen(sys.argv[2])
send(*sys.argv[2:6], sys.argv[6:])
