#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A made cluster: what its agent would answer to railctl, and what its nodes say.

usage: cluster.py agent SOCKET NAME     answer at SOCKET until the process ends
       cluster.py answers NAME          print the answers of the nodes, for "railctl cluster report"
       cluster.py names NAME            print the names of the nodes

NAME is a number of nodes with eight rails, in groups of 32, of which some are odd; "crossed": three nodes and one with a crossed
cable; "hostile": names and texts that are markup; "wide": 64 links in a node.
"""
import json
import os
import socket
import sys

MARKUP = '</td></table><script>document.title="ran"</script><img src="http://192.0.2.1/x" onerror="document.title=1">\'"&amp;'


def rail(number, leaf, port, mbps=400000, mtu=9000, interface=None, node=0):
    return {"rail": number, "interface": interface or f"eth{number + 1}", "mbps": mbps, "mtu": mtu, "chassis": f"mac {leaf}",
            "port": port, "portName": port, "system": leaf, "addresses": f"10.{number}.{node // 250}.{node % 250 + 1}/16"}


def plain(n):
    """n nodes; numbers that are easy to remember are odd."""
    nodes, said = [], []
    for i in range(n):
        group = i // 32
        rails = [rail(r, f"leaf-g{group}-r{r}", f"swp{i % 32 + 1}", node=i) for r in range(8)]
        fields = {"group": f"g{group}", "state": "ok", "version": "0.9.0", "health": "ok", "gpus": "8", "rails": "8", "degraded": "0"}
        more = []
        if i == 5 or i % 97 == 50:
            rails[2], rails[3] = dict(rails[3], rail=2, interface="eth3"), dict(rails[2], rail=3, interface="eth4")
        if i == 9 or i % 211 == 100:
            fields.update({"state": "warn", "degraded": "1"})
            more = ["degraded-rails=6", "finding=warn rail-degraded mlx5_6:1: the port is DOWN", "remedy=check the cable and the port of the leaf"]
        if i == 12:
            rails[4]["mbps"] = 200000
        if i == 17:
            del rails[1]["chassis"]
        if i == 20:
            del rails[7]
            fields["rails"] = "7"
        if i == 23:
            fields["version"] = "0.8.3"
        if i == 27:
            rails = None
        nodes.append({"name": f"gpu-{i + 1}", "rails": rails})
        said.append((f"gpu-{i + 1}", None if i == 30 else fields, more))
    if n >= 32:
        said.append(("login-1", None, ["no pod of an agent is there"]))
    return nodes, said


def crossed():
    nodes = [{"name": f"n{i}", "rails": [rail(0, "leaf-a", f"swp{i}", node=i), rail(1, "leaf-b", f"swp{i}", node=i)]} for i in range(1, 5)]
    nodes[3]["rails"] = [rail(0, "leaf-b", "swp4", node=4), rail(1, "leaf-a", "swp4", node=4)]
    return nodes, [(node["name"], {"state": "ok", "version": "0.9.0", "health": "ok", "gpus": "2", "rails": "2", "degraded": "0"}, []) for node in nodes]


def hostile():
    nodes, said = [], []
    for i in range(40):
        name = f"n{i}" + MARKUP if i % 2 else f"n{i}"
        nodes.append({"name": name, "rails": [rail(r, f"L{r}" + MARKUP, MARKUP + str(i), interface='<b a="') for r in range(8)]})
        said.append((name, {"state": MARKUP, "version": MARKUP, "health": MARKUP, "gpus": MARKUP, "rails": MARKUP, "degraded": MARKUP},
                     [f"finding=fail <b>code {MARKUP}: {MARKUP}", f"remedy={MARKUP}"]))
    nodes[7]["rails"][3] = rail(3, "\u202eleaf\u0007" + MARKUP, "p")
    return nodes, said


def wide():
    nodes = [{"name": f"n{i}", "rails": [rail(r // 2, f"leaf-with-a-long-name-{r}.pod-7.example.com", "Ethernet1/1", interface=f"enp{r}s0f0np0") for r in range(64)]}
             for i in range(4)]
    return nodes, []


def cluster(name):
    return {"crossed": crossed, "hostile": hostile, "wide": wide}[name]() if not name.isdigit() else plain(int(name))


def pools(name):
    bad = MARKUP if name == "hostile" else ""
    return {"more": 0, "pools": [{"name": f"rail{r}-g{g}" + bad, "definition": {"subnet": f"10.{g}.{r}.0/24" + bad, "state": bad or "open"}, "addresses": 253,
                                  "inBlocks": 240 if (r, g) == (2, 0) else 128, "nodes": 32} for g in range(2) for r in range(8)]}


def answer(request, name, nodes):
    call, args = request["call"], request.get("args") or {}
    if call == "status":
        return {"node": "gpu-1", "store": "kubernetes", "version": "0.9.0"}
    if call == "pools":
        return pools(name)
    if call == "nodes":
        rows = [{"name": n["name"], "heartbeat": {"seconds": i % 9 if i != 30 else 4000, "count": 7, "twin": False}, "version": "0.9.0", "blocks": 8}
                for i, n in enumerate(nodes)]
        return {"nodes": rows[:2000], "more": max(0, len(rows) - 2000)}
    rest, room = [n for n in nodes if n["name"] > args.get("after", "")], 0
    for i, node in enumerate(rest):
        room += len(json.dumps(node))
        if room > 700000:
            return {"nodes": rest[:i], "more": len(rest) - i}
    return {"nodes": rest, "more": 0}


def serve(path, name):
    nodes = sorted(({k: v for k, v in n.items() if v is not None} for n in cluster(name)[0]), key=lambda n: n["name"])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(16)
        print("ready", flush=True)
        while True:
            peer, _ = listener.accept()
            with peer, peer.makefile("rwb") as lines:
                request = json.loads(lines.readline())
                lines.write(json.dumps({"version": 1, "result": answer(request, name, nodes)}).encode() + b"\n")
                lines.flush()


def main():
    if sys.argv[1] == "agent":
        os.umask(0o077)
        return serve(sys.argv[2], sys.argv[3])
    for name, fields, more in cluster(sys.argv[2])[1] if sys.argv[1] == "answers" else []:
        print(f"node={name}")
        print("\n".join([f"{k}={v}" for k, v in fields.items()] + more if fields else ["why=" + (more[0] if more else "no answer within 15 s (--deadline)")]))
    for node in cluster(sys.argv[2])[0] if sys.argv[1] == "names" else []:
        print(node["name"])
    return 0


sys.exit(main())
