#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the kubelet's device manager, for what the real one cannot be brought to do.

kubelet.py FOLDER serve ok|refuse|hang    serve Registration at FOLDER/kubelet.sock until it is killed. Prints a line for each registration.
                                          ok: then watch the devices, and print each list as a line "devices ID=HEALTH ...".
                                          If there is a file FOLDER/../pods, also serve List at FOLDER/../pod-resources/kubelet.sock: each
                                          line "RESOURCE ID" is a device of a pod.
kubelet.py FOLDER call METHOD [gzip] [ID...]   call FOLDER's plugin for the resource rail0, with one container and these ids. Prints the strings of the answer,
                                          or the status and its text.

Messages are encoded by hand, because there are few and small ones: field numbers are those of k8s.io/kubelet,
pkg/apis/deviceplugin/v1beta1/api.proto and pkg/apis/podresources/v1/api.proto.
"""
import glob
import os
import re
import sys
import threading
from concurrent import futures

import grpc

folder, what, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]


def field(number, data):
    """A field of type text or message, shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(data)]) + data


def fields(data):
    """The fields of a message that has texts and messages alone, as pairs of number and bytes."""
    while data:
        size, at, shift = 0, 1, 0
        while True:
            size |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                break
        yield data[0] >> 3, data[at:at + size]
        data = data[at + size:]


def watch(endpoint):
    with grpc.insecure_channel(f"unix:{folder}/{endpoint}") as plugin:
        try:
            for answer in plugin.unary_stream("/v1beta1.DevicePlugin/ListAndWatch")(b""):
                devices = [dict(fields(device)) for _, device in fields(answer)]
                print("devices", *[f"{d[1].decode()}={d[2].decode()}" for d in devices], flush=True)
        except grpc.RpcError as error:
            print("watch ended:", error.code().name, flush=True)


def register(request, context):
    parts = dict(fields(request))
    print("register", parts[3].decode(), parts[2].decode(), flush=True)
    if arguments[0] == "refuse":
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the resource name \u00fc% is refused")
    if arguments[0] == "hang":
        threading.Event().wait()
    threading.Thread(target=watch, args=(parts[2].decode(),), daemon=True).start()
    return b""


def list_pods(request, context):
    with open(f"{folder}/../pods", encoding="ascii") as pods:
        devices = [line.encode().split() for line in pods]
    pod = field(1, b"p") + field(2, b"ns") + b"".join(field(3, field(1, b"c") + field(2, field(1, d[0]) + field(2, d[1]))) for d in devices)
    return field(1, pod)


class Registration(grpc.GenericRpcHandler):
    def service(self, call):
        known = {"/v1beta1.Registration/Register": register, "/v1.PodResourcesLister/List": list_pods}
        return grpc.unary_unary_rpc_method_handler(known[call.method]) if call.method in known else None


def serve():
    path = f"{folder}/kubelet.sock"
    for name in glob.glob(f"{folder}/*.sock"):  # as the kubelet does
        os.unlink(name)
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((Registration(),))
    server.add_insecure_port(f"unix:{path}")
    if os.path.exists(f"{folder}/../pods"):
        server.add_insecure_port(f"unix:{os.path.dirname(folder)}/pod-resources/kubelet.sock")
    server.start()
    print("serves", flush=True)
    threading.Event().wait()


def call():
    method, ids = arguments[0], arguments[1:]
    gzip = grpc.Compression.Gzip if "gzip" in ids else None
    request = field(1, b"".join(field(1, i.encode()) for i in ids if i != "gzip"))
    plugin, = glob.glob(f"{folder}/railhead-rail0-*.sock")
    with grpc.insecure_channel(f"unix:{plugin}") as channel:
        try:
            answer = channel.unary_unary(f"/v1beta1.DevicePlugin/{method}")(request, timeout=60, compression=gzip)
            print(*[text.decode() for text in re.findall(rb"[ -~]{2,}", answer)])
        except grpc.RpcError as error:
            print(error.code().name, error.details())


serve() if what == "serve" else call()
