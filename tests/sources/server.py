"""Servers that misbehave: of files, and of models."""

import hashlib
import http.server
import json
import threading
import urllib.parse
from contextlib import contextmanager

CONTENT = bytes(range(256)) * 4096
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """A file server in a thread. ``cuts``: bytes after which successive answers break off; ``asked``: their ranges."""

    def __init__(self, content=CONTENT, ranges=True, tag='"one"', cuts=(), statuses=()):
        self.content, self.ranges, self.tag = content, ranges, tag
        self.cuts, self.statuses, self.asked = list(cuts), list(statuses), []

    def answer(self, handler):
        wanted = handler.headers.get("Range")
        self.asked.append(wanted)
        if self.statuses:
            return handler.send_error(self.statuses.pop(0))
        unchanged = handler.headers.get("If-Range") in (None, self.tag)
        start = int(wanted[6:].rstrip("-")) if wanted and self.ranges and unchanged else 0
        if start and start >= len(self.content):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(self.content)}")
            handler.send_header("Content-Length", "0")
            return handler.end_headers()
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}")
        if self.tag:
            handler.send_header("ETag", self.tag)
        handler.send_header("Content-Length", str(len(self.content) - start))
        handler.end_headers()
        cut = self.cuts.pop(0) if self.cuts else len(self.content)
        return handler.wfile.write(self.content[start : start + cut])


@contextmanager
def serving(answer):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer(self)

        do_HEAD = do_POST = do_GET

        def log_message(self, *_):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{running.server_port}"
    finally:
        running.shutdown()
        running.server_close()


class Hub:
    """The few addresses of a model hub that a download at a pinned revision asks for."""

    def __init__(self, name, revision, files):
        self.name, self.revision, self.files, self.asked = name, revision, files, []
        self.stated = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}

    def answer(self, handler):
        path = handler.path.split("?")[0]
        self.asked.append((handler.path, handler.headers.get("Authorization")))
        body, headers = b"", {}
        if handler.command == "POST":
            form = urllib.parse.parse_qs(handler.rfile.read(int(handler.headers["Content-Length"])).decode())
            body = self.listing(form["paths"])
        elif path.startswith(f"/api/models/{self.name}/tree/{self.revision}"):
            body = self.listing(self.files)
        elif path == f"/api/models/{self.name}/revision/{self.revision}":
            siblings = [{"rfilename": name} for name in self.files]
            body = json.dumps({"id": self.name, "sha": self.revision, "siblings": siblings}).encode()
        elif path.startswith(f"/{self.name}/resolve/{self.revision}/"):
            file = path.rsplit("/", 1)[1]
            body = self.files[file]
            headers = {"ETag": f'"{self.stated[file]}"', "X-Repo-Commit": self.revision}
        else:
            return handler.send_error(404)
        handler.send_response(200)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(key, value)
        handler.end_headers()
        return handler.wfile.write(b"" if handler.command == "HEAD" else body)

    def listing(self, paths):
        entries = []
        for path in paths:
            size = len(self.files[path])
            large = {"oid": self.stated[path], "sha256": self.stated[path], "size": size, "pointerSize": 1}
            entries.append({"type": "file", "path": path, "size": size, "oid": "0" * 40, "lfs": large})
        return json.dumps(entries).encode()
