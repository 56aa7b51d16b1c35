#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fabric.py put URL NODES [CA CERT KEY]: so many objects of nodes with eight rails, as an agent writes them; prints their bytes.

fabric.py change URL NODES CA CERT KEY: all nodes write their object at a time, because a leaf of each has another name; 32 of them wait for an answer.
Prints writes, bytes sent, seconds, and milliseconds of a write: half of them, 99 of 100.

fabric.py run COMMAND...: prints the seconds and the KiB of memory that it took; its exit status. The first digits of what it printed stay."""
import base64
import http.client
import json
import resource
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid

RAILS, GROUP = 8, 32


def node(i):
    """The value of node i: groups of 32 nodes behind eight leaves, with the addresses that the plan of fabric.sh has. Its own eight pools are named, those of other groups are one sum."""
    group, digits = i // GROUP, uuid.UUID(int=i + (1 << 100))
    rails = [{"rail": r, "interface": f"enp{r}s0np0", "mbps": 400000, "mtu": 9000,
              "addresses": f"10.{192 + 8 * r + group // 64}.{group % 64 * 4}.{i % GROUP + 2}/22",
              "chassis": f"mac 50:6b:4b:{group // 256:02x}:{group % 256:02x}:{r:02x}", "port": f"ifname swp{i % GROUP + 1}s0",
              "portName": f"swp{i % GROUP + 1}s0", "system": f"su{group // 8}-leaf{group}-r{r}",
              "hca": f"mlx5_{r}", "pci": f"0000:{r * 16 + 11:02x}:00.0", "rdma": "shared", "gpus": f"{r}", "degraded": ""} for r in range(RAILS)]
    pools = [{"name": f"rail{r}-g{group}", "uid": str(uuid.UUID(int=group * RAILS + r + (1 << 101))), "generation": 1} for r in range(RAILS)]
    return {"holder": digits.hex, "boot": str(digits), "machine": str(digits), "version": "0.1.0", "pools": pools,
            "elsewhere": digits.hex[:16], "reserved": {"name": "cluster", "uid": "", "generation": 0}, "rails": rails}


def connect(at, ca, cert, key):
    tls = ssl.create_default_context(cafile=ca)
    tls.load_cert_chain(cert, key)
    return http.client.HTTPSConnection(at.hostname, at.port, context=tls)


def change(url, n, *files, turns=32):
    """As kube_patch_json() of cluster/kube/object.c: each write names the object's uid and version."""
    at, wrong, took, size, there = urllib.parse.urlsplit(url), [], [], [], []
    to, path = connect(at, *files), "/apis/railhead.io/v1alpha1/railnodes"
    more = ""
    while True:
        to.request("GET", f"{path}?limit=500{more}", headers={"Accept": "application/json"})
        page = json.load(to.getresponse())
        there += [o["metadata"] for o in page["items"] if o["metadata"]["name"].startswith("gpu-")]
        if not page["metadata"].get("continue"):
            break
        more = "&continue=" + urllib.parse.quote(page["metadata"]["continue"])
    if len(there) != n:
        sys.exit(f"{len(there)} objects, and not {n}")
    bodies = []
    for meta in there:
        value = node(int(meta["name"][4:]))
        value["rails"][0]["system"] += "-new"
        bodies.append((meta["name"], json.dumps([
            {"op": "add", "path": "/metadata/uid", "value": meta["uid"]},
            {"op": "add", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]},
            {"op": "add", "path": "/spec", "value": value | {"node": meta["name"]}}], separators=(",", ":"))))

    def writes(turn):
        mine = connect(at, *files)
        for name, body in bodies[turn::turns]:
            sent = time.monotonic()
            mine.request("PATCH", f"{path}/{name}", body, {"Content-Type": "application/json-patch+json"})
            answer = mine.getresponse()
            said = answer.read()
            took.append(time.monotonic() - sent)
            size.append(len(body))
            if answer.status != 200:
                wrong.append(f"{name}: {answer.status} {said[:300]!r}")

    threads = [threading.Thread(target=writes, args=(turn,)) for turn in range(turns)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    if wrong or len(took) != n:
        sys.exit(f"{len(took)} writes of {n}: {wrong[:3]}")
    took.sort()
    print(n, sum(size), f"{seconds:.1f} {took[n // 2] * 1000:.0f} {took[n * 99 // 100] * 1000:.0f}")


def put(url, n, ca=None, cert=None, key=None):
    """One object after the other, by one connection."""
    at, size, begin = urllib.parse.urlsplit(url), 0, time.monotonic()
    if ca:
        to = connect(at, ca, cert, key)
    else:
        to = http.client.HTTPConnection(at.hostname, at.port)
    for i in range(n):
        name, value = f"gpu-{i:05}", node(i)
        if ca:
            body = json.dumps({"apiVersion": "railhead.io/v1alpha1", "kind": "RailNode", "metadata": {"name": name},
                               "spec": value | {"node": name}}, separators=(",", ":"))
            to.request("POST", "/apis/railhead.io/v1alpha1/railnodes", body, {"Content-Type": "application/json"})
        else:
            text = json.dumps({"uid": str(uuid.UUID(int=i)), "node": name, "value": value}, separators=(",", ":")).encode()
            body = json.dumps({"key": base64.b64encode(f"/railhead/nodes/{name}".encode()).decode(), "value": base64.b64encode(text).decode()})
            to.request("POST", "/v3/kv/put", body)
        answer = to.getresponse()
        said = answer.read()
        if answer.status not in (200, 201):
            sys.exit(f"{name}: {answer.status} {said[:300]!r}")
        size += len(json.dumps(value, separators=(",", ":")))
    print(n, size, f"{time.monotonic() - begin:.1f}")


def run(command):
    """Where nothing is printed, standard output of the command is on standard error."""
    begin = time.monotonic()
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    print(f"{time.monotonic() - begin:.1f}", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.returncode)


if sys.argv[1] == "put":
    put(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
elif sys.argv[1] == "change":
    change(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
else:
    run(sys.argv[2:])
