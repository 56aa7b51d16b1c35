#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""kubelet.py SOCKET WAY [ARG...]: answer at a pod-resources socket as a kubelet does, or as none ever should.

Ways with the gRPC of python3-grpcio:
  pods COUNT RESOURCE=ID...   COUNT other pods, and default/train with these devices
  busy TIMES RESOURCE=ID...   refuse so many calls by a rate limit, then answer
  other                       no such service
  large                       a message of more than 16 MiB
Ways without: closed (close each connection), garbage (send bytes that are not HTTP/2), silent (never send a byte).
Prints "up" when it listens.
"""
import itertools
import socket
import sys
import threading
from concurrent import futures

import grpc

path, way, args = sys.argv[1], sys.argv[2], sys.argv[3:]


def field(number, data):
    """A field of type text or message."""
    size, length = len(data), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + data


def pod(namespace, name, devices):
    """Field numbers: k8s.io/kubelet, pkg/apis/podresources/v1/api.proto."""
    of = b""
    for device in devices:
        resource, _, ident = device.partition("=")
        of += field(2, field(1, resource.encode()) + field(2, ident.encode()))
    return field(1, field(1, name) + field(2, namespace) + field(3, field(1, b"main") + of))


def answer(_request, context):
    if way == "large":
        return field(1, field(1, b"x" * (17 << 20)))
    if way == "busy" and next(calls) < int(args[0]):
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")
    others = int(args[0]) if way == "pods" else 0
    return b"".join(pod(b"other", b"pod-%d" % i, ["nvidia.com/gpu=GPU-x"]) for i in range(others)) + pod(b"default", b"train", args[1:])


class Kubelet(grpc.GenericRpcHandler):
    def service(self, call):
        if call.method != "/v1.PodResourcesLister/List" or way == "other":
            return None
        return grpc.unary_unary_rpc_method_handler(answer)


def raw():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("up", flush=True)
    open_ones = []
    while True:
        client, _ = listener.accept()
        if way == "closed":
            client.close()
        elif way == "garbage":
            client.sendall(b"\xff" * 4096)
        open_ones.append(client)


calls = itertools.count()
if way in ("closed", "garbage", "silent"):
    raw()
server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.max_send_message_length", -1)])
server.add_generic_rpc_handlers((Kubelet(),))
server.add_insecure_port(f"unix:{path}")
server.start()
print("up", flush=True)
threading.Event().wait()
