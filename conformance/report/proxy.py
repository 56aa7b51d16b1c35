#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A proxy that lets nothing through: proxy.py PORT prints the first line of each request."""
import http.server
import sys


class Refuse(http.server.BaseHTTPRequestHandler):
    def handle_one_request(self):
        print(self.rfile.readline(65537).decode("latin-1").strip(), flush=True)
        self.close_connection = True

    def log_message(self, *_):
        pass


print("ready", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Refuse).serve_forever()
