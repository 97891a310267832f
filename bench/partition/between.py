"""A server between a client and an object store, that answers late, not at all, or with errors."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PASS, LATE, BUSY, LOST, DONE_BUSY = "pass", "late", "busy", "lost", "done, busy"
"""Fates of a request: it is passed on; a moment later; it is not, and answered with 503; it is
passed on, and its answer lost; it is passed on, and answered with 503.
"""

Fate = Callable[[str, str], str]
"""The fate of a request, by its method and its path with what comes after `?`."""


class Between:
    """A running server. `fate` decides; `asked` has all requests; with `lagging` each listing is
    answered as the first one of its kind was.
    """

    def __init__(self, target: str):
        self.fate: Fate = lambda method, path: PASS
        self.lagging = False
        self.asked: list[tuple[str, str]] = []
        self.listings: dict[str, tuple[int, list[tuple[str, str]], bytes]] = {}
        self.target = urlsplit(target).netloc
        between = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self) -> None:
                between.answer(self)

            do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        method, path = request.command, request.path
        body = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        self.asked.append((method, path))
        fate = self.fate(method, path)
        if fate == LATE:
            time.sleep(0.02)
        if fate == BUSY:
            self._say(request, 503, [], b"")
            return
        found = self._passed_on(method, path, request, body)
        if fate == LOST:
            request.close_connection = True
            request.connection.close()
        elif fate == DONE_BUSY:
            self._say(request, 503, [], b"")
        else:
            self._say(request, *found)

    def _passed_on(
        self, method: str, path: str, request: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        listing = method == "GET" and "list-type=2" in path
        if listing and self.lagging and path in self.listings:
            return self.listings[path]
        connection = http.client.HTTPConnection(self.target, timeout=30)
        try:
            headers = {k: v for k, v in request.headers.items() if k.lower() != "host"}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            found = answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()
        if listing:
            self.listings[path] = found
        return found

    @staticmethod
    def _say(
        request: BaseHTTPRequestHandler, status: int, headers: list[tuple[str, str]], body: bytes
    ) -> None:
        request.send_response_only(status)
        length = str(len(body))
        for name, value in headers:
            if name.lower() == "content-length":
                length = value if request.command == "HEAD" else length
            elif name.lower() not in ("transfer-encoding", "connection"):
                request.send_header(name, value)
        request.send_header("Content-Length", length)
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(body)


@contextmanager
def between(target: str) -> Iterator[Between]:
    """Start a server in front of another one."""
    found = Between(target)
    thread = threading.Thread(target=found.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.server.shutdown()
        found.server.server_close()
        thread.join()
