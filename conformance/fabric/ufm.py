#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ufm.py FOLDER: a stand-in for UFM's REST interface: members of partitions, and nothing else.
#
# It follows NVIDIA's published description of the interface, and refuses each request that differs from that. It says
# nothing about the real UFM.
# FOLDER has ufm.pem and ufm.key. It writes ufm.port, ufm.members and ufm.log there. ufm.mode says how it answers: ok, fail,
# redirect, garbage, close, huge, hang, proxy (404 to everything).
import base64
import http.server
import json
import os
import re
import ssl
import sys
import threading

folder = sys.argv[1]
members = {}
lock = threading.Lock()
LOGIN = {"/ufmRest": "Basic " + base64.b64encode(b"admin:s3cret").decode(), "/ufmRestV3": "Basic dG9rZW4"}


def write(name, text):
    path = os.path.join(folder, name)
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)


def wrong(body, add):
    keys = {"pkey", "guids"} | ({"index0", "ip_over_ib", "membership"} if add else set())
    if set(body) != keys:
        return "keys: %s" % sorted(body)
    if not re.fullmatch("0x[0-9a-f]{1,4}", body["pkey"]) or not 0 < int(body["pkey"], 16) < 0x7FFF:
        return "pkey: %s" % body["pkey"]
    if not body["guids"] or not all(re.fullmatch("[0-9a-f]{16}", g) for g in body["guids"]):
        return "guids: %s" % body["guids"]
    if add and (body["membership"] not in ("full", "limited") or not isinstance(body["index0"], bool)):
        return "membership or index0"
    return None


class Ufm(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, text, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def disturbed(self):
        mode = open(os.path.join(folder, "ufm.mode")).read().strip()
        if mode == "fail":
            self.answer(500, '{"error": "no leader"}')
        elif mode == "redirect":
            self.answer(302, "", Location="https://example.com/")
        elif mode == "garbage":
            self.wfile.write(b"\x00\x01 this is not HTTP\n\n")
        elif mode == "huge":
            self.answer(200, "x" * (4 << 20))
        elif mode == "hang":
            threading.Event().wait(300)
        elif mode == "proxy":
            self.answer(404, "<html>no such page</html>")
        self.close_connection = mode != "ok"
        return mode != "ok"

    def path_of(self):
        with open(os.path.join(folder, "ufm.log"), "a") as f:
            f.write("%s %s\n" % (self.command, self.path))
        for prefix, login in LOGIN.items():
            if self.path.startswith(prefix + "/"):
                if self.headers["Authorization"] == login:
                    return self.path[len(prefix):]
                self.answer(401, "who are you?")
                return None
        self.answer(404, "no such path")
        return None

    def do_GET(self):
        if self.disturbed():
            return
        path = self.path_of()
        with lock:
            if path == "/resources/pkeys":
                self.answer(200, json.dumps(["0x7fff"] + list(members)))
            elif path:
                self.answer(404, "no such path")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.disturbed():
            return
        path = self.path_of()
        if path is None:
            return
        add = path == "/resources/pkeys"
        if not add and path != "/actions/remove_guids_from_pkey":
            return self.answer(404, "no such path")
        body = json.loads(body)
        problem = wrong(body, add)
        if problem or self.headers["Content-Type"] != "application/json":
            return self.answer(400, json.dumps({"error": problem or "Content-Type"}))
        key = hex(int(body["pkey"], 16))
        with lock:
            if not add and key not in members:
                return self.answer(404, json.dumps({"error": "no partition " + key}))
            ports = members.setdefault(key, {})
            for guid in body["guids"]:
                if add:
                    ports[guid] = [body["membership"], body["index0"], body["ip_over_ib"]]
                else:
                    ports.pop(guid, None)
            write("ufm.members", json.dumps(members))
        self.answer(200, "{}")


server = http.server.ThreadingHTTPServer(("localhost", 0), Ufm)
server.daemon_threads = True
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.path.join(folder, "ufm.pem"), os.path.join(folder, "ufm.key"))
server.socket = tls.wrap_socket(server.socket, server_side=True)
write("ufm.members", "{}")
write("ufm.port", str(server.server_port))
server.serve_forever()
