"""The served page: to those who know the token, live, and never written to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import lftj
from lftj.report.serve import ADDRESS, Served
from tests.unit.report.pages import HOSTILE, Parts, entitled


class Client:
    """Requests to one server."""

    def __init__(self, served: Served):
        self.served = served

    def ask(
        self, path: str, method: str = "GET", host: str | None = None, **values: Any
    ) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers of an answer."""
        connection = HTTPConnection(ADDRESS, self.served.port, timeout=30)
        headers = {} if host is None else {"Host": host}
        connection.request(method, f"{path}?{urlencode(values)}", headers=headers)
        answer = connection.getresponse()
        found = answer.status, answer.read().decode(), dict(answer.getheaders())
        connection.close()
        return found

    def get(self, path: str, **values: Any) -> Any:
        """The body of a good answer to someone who knows the token."""
        status, body, _ = self.ask(path, token=self.served.token, **values)
        assert status == 200, body
        return body if path == "/" else json.loads(body)


def test_a_head_is_answered_as_a_get_without_its_body(live: tuple[lftj.Workspace, Client]) -> None:
    _, client = live
    token = client.served.token
    for path, values in (("/", {"token": token}), ("/", {}), ("/none", {"token": token})):
        status, body, headers = client.ask(path, "HEAD", **values)
        wanted, text, alike = client.ask(path, "GET", **values)
        assert (status, body) == (wanted, "")
        assert headers["Content-Type"] == alike["Content-Type"]
        assert text
        assert int(headers["Content-Length"]) > 0


def test_a_page_that_is_handed_on_names_no_folder_of_this_machine(
    live: tuple[lftj.Workspace, Client], tmp_path: Path
) -> None:
    ws, client = live
    ws.report(tmp_path / "page.html")
    for text in ((tmp_path / "page.html").read_text(encoding="utf-8"), client.get("/")):
        assert "at live.lftj" in text
        assert str(tmp_path) not in text


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[lftj.Workspace, Client]]:
    """A workspace at a path, and the page that follows it."""
    with (
        lftj.connect(tmp_path / "live.lftj") as ws,
        lftj.connect(tmp_path / "live.lftj", read_only=True) as reader,
    ):
        entitled(ws)
        reader.refresh()
        served = Served(reader._backend)
        thread = threading.Thread(target=served.run, daemon=True)
        thread.start()
        yield ws, Client(served)
        served.close()
        thread.join()


def test_only_those_who_know_the_token_see_anything(live: tuple[Any, Client]) -> None:
    _, client = live
    token = client.served.token
    for asked in ({}, {"token": ""}, {"token": "x" * len(token)}, {"token": "é"}):
        for path in ("/", "/next", "/explain", "/else"):
            status, body, _ = client.ask(path, **asked)
            assert (status, "ann" in body) == (403, False)
    for host in ("evil.example", f"evil.example:{client.served.port}", ADDRESS):
        assert client.ask("/", host=host, token=token)[0] == 403
    assert client.ask("/", host=f"localhost:{client.served.port}", token=token)[0] == 200
    for method in ("POST", "PUT", "DELETE"):
        assert client.ask("/", method=method, token=token)[0] == 501
    assert client.served._server.server_address[0] == "127.0.0.1"


def test_the_page_may_be_asked_about_any_row(live: tuple[Any, Client]) -> None:
    ws, client = live
    parts = Parts(client.get("/"))
    assert [name for name, _ in parts.elements if name in ("img", "iframe")] == []
    for row in (("ann", "wiki"), (HOSTILE[2], "wiki")):
        text = client.get("/explain", row=lftj_atom("may", row))["text"]
        assert text == str(ws.explain("may", row))
    missing = client.get("/explain", row='may("bob", "wiki")')["text"]
    assert '+member("bob", "staff")' in missing
    for wrong in ("nothing(1)", "may(", "may(x, y)", 'may("ann")', "member(1, 2)"):
        status, body, headers = client.ask("/explain", token=client.served.token, row=wrong)
        assert (status, headers["Content-Type"]) == (400, "text/plain; charset=utf-8"), body
    assert client.ask("/explain", token=client.served.token)[0] == 400
    assert client.ask("/next", token=client.served.token, since="x")[0] == 400
    assert client.ask("/else", token=client.served.token)[0] == 404


def lftj_atom(relation: str, row: tuple[Any, ...]) -> str:
    """A row as an atom."""
    from lftj.proofs.instances import atom_text

    return atom_text(relation, row)


def test_the_page_follows_commits(live: tuple[lftj.Workspace, Client]) -> None:
    ws, client = live
    before = ws.version
    timer = threading.Timer(0.2, lambda: ws.load("grant", [("dev", "new repo")]))
    timer.start()
    started = time.monotonic()
    news = client.get("/next", since=before)
    timer.join()
    assert time.monotonic() - started < 15
    assert news["data"]["version"] == before + 1
    assert "new repo" in news["content"]
    assert 'grant("dev", "new repo")' in news["data"]["explained"]
    assert [name for name, _ in Parts(news["content"]).elements if name in ("img", "script")] == []
    assert "new repo" in client.get("/")


def test_answers_are_not_kept_nor_framed(live: tuple[Any, Client]) -> None:
    _, client = live
    _, body, headers = client.ask("/", token=client.served.token)
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = [each["content"] for each in Parts(body).named("meta") if "http-equiv" in each]
    assert "connect-src 'self'" in str(policy)


def test_a_taken_port_is_an_error(live: tuple[Any, Client], tmp_path: Path) -> None:
    from lftj.cli import main

    _, client = live
    assert main(["serve", str(tmp_path / "live.lftj"), "--port", str(client.served.port)]) == 1
