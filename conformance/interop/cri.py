#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""cri.py SOCKET FOLDER: do what a kubelet does, for the shell that writes commands to FOLDER/commands.

A command is a line of words with \\x1f between them; the first is the name of the answer. Standard output
of command N goes to FOLDER/N.out, errors to N.err, and then its exit status to the fifo FOLDER/N.
The file FOLDER/up appears when it listens. One
program for all of them, because loading gRPC takes longer than most commands. They are:

  ready NETWORK           wait until the runtime is ready and has read this network
  version                 print the runtime's name and version
  run IMAGE NAME UID      a sandbox with one container; prints the ids of both
  sandbox NAME UID        a sandbox without a container; prints its id
  stop ID | remove ID     of a sandbox
  status ID               prints state, addresses
  info ID                 prints what the runtime knows about the sandbox, as JSON
  list                    prints id, name and state of each sandbox
  exec ID COMMAND...      in a container; the exit status is the command's

The messages are in the folder $CRI_PB, where protoc put cri_pb2.py. Exit status 1: the runtime says no.
"""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.environ["CRI_PB"])
import grpc  # noqa: E402
import cri_pb2 as pb  # noqa: E402

LIMIT = 120  # seconds, of one call


class Refused(Exception):
    pass


class Runtime:
    """The calls of one command; the daemon may have been started anew since the last one."""

    def __init__(self, socket, out, err):
        self.channel = grpc.insecure_channel("unix:" + socket, options=[("grpc.use_local_subchannel_pool", 1)])
        self.out = out
        self.err = err

    def call(self, verb, **fields):
        method = self.channel.unary_unary(
            "/runtime.v1.RuntimeService/" + verb,
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=getattr(pb, verb + "Response").FromString,
        )
        return method(getattr(pb, verb + "Request")(**fields), timeout=LIMIT)

    def say(self, *words):
        print(*words, file=self.out, flush=True)


def sandbox_config(name, uid):
    metadata = pb.PodSandboxMetadata(name=name, uid=uid, namespace="interop")
    return pb.PodSandboxConfig(metadata=metadata, hostname=name, log_directory="/run/work/log")


def ready(runtime, network):
    end = time.monotonic() + LIMIT
    while True:
        try:
            answer = runtime.call("Status", verbose=True)
        except grpc.RpcError as error:
            # containerd listens before it has read what it knew.
            if "not initialized" not in error.details() or time.monotonic() > end:
                raise
            time.sleep(0.05)
            continue
        conditions = answer.status.conditions
        networks = json.loads(answer.info["cniconfig"])["Networks"]
        names = [n["Config"]["Name"] for n in networks or []]
        if all(c.status for c in conditions) and network in names:
            return 0
        if time.monotonic() > end:
            raise Refused(f"not within {LIMIT} s: not ready: {names}; " + "; ".join(c.message for c in conditions))
        time.sleep(0.05)


def version(runtime):
    answer = runtime.call("Version")
    runtime.say(answer.runtime_name, answer.runtime_version)
    return 0


def sandbox(runtime, name, uid):
    answer = runtime.call("RunPodSandbox", config=sandbox_config(name, uid))
    runtime.say(answer.pod_sandbox_id)
    return 0


def run(runtime, image, name, uid):
    config = sandbox_config(name, uid)
    pod = runtime.call("RunPodSandbox", config=config).pod_sandbox_id
    container = pb.ContainerConfig(
        metadata=pb.ContainerMetadata(name=name),
        image=pb.ImageSpec(image=image),
        command=["/bin/sleep", "1000"],
    )
    made = runtime.call("CreateContainer", pod_sandbox_id=pod, config=container, sandbox_config=config)
    runtime.call("StartContainer", container_id=made.container_id)
    runtime.say(pod, made.container_id)
    return 0


def stop(runtime, pod):
    runtime.call("StopPodSandbox", pod_sandbox_id=pod)
    return 0


def remove(runtime, pod):
    runtime.call("RemovePodSandbox", pod_sandbox_id=pod)
    return 0


def status(runtime, pod):
    answer = runtime.call("PodSandboxStatus", pod_sandbox_id=pod).status
    more = [a.ip for a in answer.network.additional_ips]
    runtime.say("NOTREADY" if answer.state else "READY", answer.network.ip, *more)
    return 0


def info(runtime, pod):
    runtime.say(runtime.call("PodSandboxStatus", pod_sandbox_id=pod, verbose=True).info["info"])
    return 0


def list_(runtime):
    for item in runtime.call("ListPodSandbox").items:
        runtime.say(item.id, item.metadata.name, "NOTREADY" if item.state else "READY")
    return 0


def exec_(runtime, container, *command):
    answer = runtime.call("ExecSync", container_id=container, cmd=command, timeout=10)
    runtime.out.write(answer.stdout.decode())
    runtime.err.write(answer.stderr.decode())
    return answer.exit_code


COMMANDS = {f.__name__.rstrip("_"): f
            for f in (ready, version, run, sandbox, stop, remove, status, info, list_, exec_)}


def do(socket, folder, name, command, *args):
    with open(f"{folder}/{name}.out", "w") as out, open(f"{folder}/{name}.err", "w") as err:
        runtime = Runtime(socket, out, err)
        try:
            status = COMMANDS[command](runtime, *args)
        except grpc.RpcError as error:
            err.write(f"{error.code().name} {error.details()}\n")
            status = 1
        except (Refused, KeyError, TypeError) as error:
            err.write(f"{command}: {error}\n")
            status = 2
        runtime.channel.close()
    with open(f"{folder}/{name}", "w") as answer:
        answer.write(f"{status}\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    socket, folder = sys.argv[1:]
    # Open for writing too: there is never an end of file.
    with os.fdopen(os.open(folder + "/commands", os.O_RDWR)) as commands:
        open(folder + "/up", "w").close()
        for line in commands:
            words = line.rstrip("\n").split("\x1f")
            threading.Thread(target=do, args=(socket, folder, *words), daemon=True).start()


main()
