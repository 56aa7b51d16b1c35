#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gpu_plugin.py FOLDER RESOURCE ID...: a device plugin that gives these ids as devices of RESOURCE, until it is killed.

FOLDER is the kubelet's folder device-plugins, as seen from here. Prints "registered" when the kubelet has accepted it. The
devices exist only as ids: a container that gets one is given nothing. Messages are encoded by hand, because there
are few and small ones: field numbers are those of k8s.io/kubelet, pkg/apis/deviceplugin/v1beta1/api.proto.
"""
import sys
import threading
from concurrent import futures

import grpc

folder, resource = sys.argv[1:3]
ids = sys.argv[3:]
name = resource.replace("/", "-") + ".sock"


def field(number, data):
    """A field of type text or message, shorter than 16384 bytes."""
    size = len(data)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + data


def watch(_request, _context):
    yield b"".join(field(1, field(1, i.encode()) + field(2, b"Healthy")) for i in ids)
    threading.Event().wait()


def allocate(_request, _context):
    """One container asks."""
    return field(1, b"")


class Plugin(grpc.GenericRpcHandler):
    def service(self, call):
        method = call.method.rpartition("/")[2]
        if method == "ListAndWatch":
            return grpc.unary_stream_rpc_method_handler(watch)
        if method == "Allocate":
            return grpc.unary_unary_rpc_method_handler(allocate)
        return grpc.unary_unary_rpc_method_handler(lambda request, context: b"")


server = grpc.server(futures.ThreadPoolExecutor(8))
server.add_generic_rpc_handlers((Plugin(),))
server.add_insecure_port(f"unix:{folder}/{name}")
server.start()
with grpc.insecure_channel(f"unix:{folder}/kubelet.sock") as kubelet:
    register = kubelet.unary_unary("/v1beta1.Registration/Register")
    register(field(1, b"v1beta1") + field(2, name.encode()) + field(3, resource.encode()), timeout=60)
print("registered", flush=True)
threading.Event().wait()
