#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fabric.py put URL NODES [CA CERT KEY]: so many objects of nodes with eight rails, as an agent writes them; prints their bytes.

fabric.py run COMMAND...: prints the seconds and the KiB of memory that it took; its exit status. The first digits of what it printed stay."""
import base64
import http.client
import json
import resource
import ssl
import subprocess
import sys
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


def put(url, n, ca=None, cert=None, key=None):
    """One object after the other, by one connection."""
    at, size, begin = urllib.parse.urlsplit(url), 0, time.monotonic()
    if ca:
        tls = ssl.create_default_context(cafile=ca)
        tls.load_cert_chain(cert, key)
        to = http.client.HTTPSConnection(at.hostname, at.port, context=tls)
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
else:
    run(sys.argv[2:])
