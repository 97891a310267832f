# SPDX-License-Identifier: Apache-2.0
"""The page about a workspace, served while others commit: read-only, to this machine alone, and
only to those who know the token.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from lftj.engine.calls.limits import Limits
from lftj.engine.questions.atom_rows import AtomRows
from lftj.errors import DistributedError, ExplanationError, LftjError
from lftj.proofs.instances import atom_text
from lftj.proofs.proof import Proof
from lftj.proofs.text import proof_text
from lftj.report.gather import SAMPLED, gather
from lftj.report.render import content, data_of, page

if TYPE_CHECKING:
    from lftj.report.subject import ShownVersion, Subject

ADDRESS = "127.0.0.1"
_LIMITS = Limits(seconds=20.0)
"""Bounds of one explanation."""
_WAIT, _LOOK = 20.0, 0.5  # seconds: a request waits for a commit; between looks where none is told
_LINES = 2_000
_ROWS = 200
"""Rows of a question that are listed."""
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Followed:
    """A workspace that follows whoever commits, with the contents of the page about its last
    version, made once for each. Any thread may use it.
    """

    def __init__(self, subject: Subject, samples: int = SAMPLED):
        self._subject, self._samples = subject, samples
        self._news, self._making = threading.Condition(), threading.Lock()
        self._contents: dict[str, Any] = {}
        self._rows: dict[str, tuple[str, tuple[Any, ...]]] = {}
        self._ended = False
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Follow no longer."""
        self._ended = True
        with self._news:
            self._news.notify_all()
        self._thread.join()

    def _follow(self) -> None:
        while not self._ended:
            before = self._subject.version
            try:
                self._subject.wait_for(before + 1, _LOOK)
            except DistributedError:
                time.sleep(_LOOK)
            except LftjError:  # the writer is in the way, or away; the next look tells
                time.sleep(_LOOK)
            if self._subject.version != before:
                with self._news:
                    self._news.notify_all()

    def contents(self) -> dict[str, Any]:
        """The contents of the page about the last version."""
        with self._making:
            if self._contents.get("version") != self._subject.current().number:
                made = gather(self._subject, self._samples, explaining=0.0)
                made["explained"] = {
                    row["atom"]: ""
                    for each in made["relations"]
                    for row in each["samples"]
                    if row["atom"]
                }
                self._contents = made
            return self._contents

    def after(self, version: int) -> dict[str, Any]:
        """Content and data of the page after this version; empty where no commit comes for a
        while.
        """
        with self._news:
            self._news.wait_for(lambda: self._ended or self._subject.version != version, _WAIT)
        if self._ended or self._subject.version == version:
            return {}
        found = self.contents()
        return {"content": content(found), "data": data_of(found)}

    def answer(self, asked: str) -> dict[str, Any]:
        """The reason why a row, written as an atom, is there, or why it is not; of a question with
        variables the first rows that match, as atoms. Raises LftjError.
        """
        version = self._subject.current()
        with self._subject.limits.set(_LIMITS):
            try:
                proof = version.explain(asked, None, 3, None)
            except ExplanationError as problem:
                if problem.code == "E361":
                    return {"text": str(version.why_not(asked, None, 3, 1))}
                return _matching(version, asked)
            assert isinstance(proof, Proof)
            return {"text": proof_text(proof.steps, proof.origins, _LINES)}


def _matching(version: ShownVersion, question: str) -> dict[str, Any]:
    """The rows that match a question, found by what it fixes. Raises LftjError."""
    wanted = AtomRows.of(question, version.program.catalog)
    answers = version.query(wanted.body, ())
    rows = wanted.rows(answers.head(_ROWS) if len(answers) > _ROWS else answers.sort())
    listed = f", {len(rows)} of them listed" if len(answers) > len(rows) else ""
    text = f"{len(answers):,} row{'' if len(answers) == 1 else 's'}{listed}"
    return {"text": text, "rows": [atom_text(wanted.relation, row) for row in rows]}


class Served:
    """A server of one page. `url` has the token. Use `run`, and `close` from another thread."""

    def __init__(self, subject: Subject, port: int = 0, samples: int = SAMPLED):
        """`port`: 0 for any that is free. Raises OSError where it is taken."""
        self.token = secrets.token_urlsafe(24)
        self.followed = Followed(subject, samples)
        try:
            self._server = ThreadingHTTPServer((ADDRESS, port), partial(_Handler, self))
        except OSError:
            self.followed.close()
            raise
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.hosts = {f"{ADDRESS}:{self.port}", f"localhost:{self.port}"}

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{ADDRESS}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Answer requests until `close`."""
        self._server.serve_forever(poll_interval=0.2)

    def close(self) -> None:
        """Answer no further request."""
        self._server.shutdown()
        self._server.server_close()
        self.followed.close()


class _Handler(BaseHTTPRequestHandler):
    """Requests: the page, what comes after a version, and explanations. All are GET, or HEAD."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "lftj", ""
    timeout = 60

    def __init__(self, served: Served, *args: Any):
        self._served = served
        super().__init__(*args)

    def do_HEAD(self) -> None:
        """Answer as a GET, without the body: `_send` leaves it out."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer one request of someone who knows the token, and this server by its address."""
        asked = urlsplit(self.path)
        values = {name: each[-1] for name, each in parse_qs(asked.query).items()}
        given = values.get("token", "").encode()
        if self.headers.get("Host") not in self._served.hosts or not secrets.compare_digest(
            given, self._served.token.encode()
        ):
            self._send(HTTPStatus.FORBIDDEN, "open the address that `lftj serve` printed")
            return
        answers: dict[str, Callable[[dict[str, str]], Any]] = {
            "/": lambda _: page(self._served.followed.contents(), self._served.token),
            "/next": lambda values: self._served.followed.after(int(values["since"])),
            "/explain": lambda values: self._served.followed.answer(values["row"]),
        }
        if asked.path not in answers:
            self._send(HTTPStatus.NOT_FOUND, "there is only one page: /")
            return
        try:
            found = answers[asked.path](values)
        except LftjError as problem:
            self._send(HTTPStatus.BAD_REQUEST, str(problem))
        except (KeyError, ValueError):
            self._send(HTTPStatus.BAD_REQUEST, f"{asked.path} is asked for something else")
        else:
            self._send(HTTPStatus.OK, found)

    def _send(self, status: HTTPStatus, found: Any) -> None:
        if not isinstance(found, str):
            kind, text = "application/json", json.dumps(found, default=str)
        else:
            kind, text = ("text/html" if status is HTTPStatus.OK else "text/plain"), found
        sent = text.encode()
        with suppress(ConnectionError):  # whoever asked has gone
            self.send_response(status)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(sent)

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: addresses hold the token."""
