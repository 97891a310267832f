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
    for wrong in ("nothing(1)", "may(", "x = 1", 'may("ann")', "member(1, 2)"):
        status, body, headers = client.ask("/explain", token=client.served.token, row=wrong)
        assert (status, headers["Content-Type"]) == (400, "text/plain; charset=utf-8"), body
    assert client.ask("/explain", token=client.served.token)[0] == 400
    assert client.ask("/next", token=client.served.token, since="x")[0] == 400
    assert client.ask("/else", token=client.served.token)[0] == 404


def test_a_question_lists_the_rows_that_match_it(live: tuple[Any, Client]) -> None:
    ws, client = live
    found = client.get("/explain", row='may("ann", x)')
    rows = [row for row in ws["may"] if row[0] == "ann"]
    assert found["rows"] == [lftj_atom("may", row) for row in sorted(rows)]
    assert found["text"] == f"{len(rows)} rows"
    assert client.get("/explain", row=found["rows"][0])["text"].startswith(found["rows"][0])
    assert client.get("/explain", row='may("zed", _)') == {"text": "0 rows", "rows": []}
    both = client.get("/explain", row='may(who="ann", object=o), grant("staff", o).')
    assert both["rows"] == ['may("ann", "wiki")']
    ws.load("member", [(f"user{number}", "dev") for number in range(400)])
    assert ws.version == client.get("/next", since=ws.version - 1)["data"]["version"]
    many = client.get("/explain", row="member(x, y)")
    assert (len(many["rows"]), many["text"].partition(",")[2]) == (200, " 200 of them listed")


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


@pytest.mark.parametrize("closed", [False, True])
def test_the_slowest_rules_of_other_processes_are_shown(tmp_path: Path, closed: bool) -> None:
    from lftj.report.gather import gather

    path = tmp_path / "slow.lftj"

    def slowest(ws: lftj.Workspace) -> dict[tuple[str, str], dict[str, Any]]:
        return {(each["relation"], each["rule"]): each for each in gather(ws._backend)["slowest"]}

    ws = lftj.connect(path, durability="off")
    ws.add_rules(
        ".decl e(x: number, y: number)\n.decl r(x: number, y: number)\n"
        "r(x, y) :- e(x, y).\nr(x, z) :- r(x, y), e(y, z)."
    )
    ws.load("e", [(number, number + 1) for number in range(1000)])
    ws.load("e", [(1000, 1001)])
    spent = slowest(ws)
    if closed:  # its log goes, its checkpoint stays
        ws.close()
        ws = lftj.connect(path, durability="off")
        assert slowest(ws).keys() <= spent.keys()
        ws.close()
    with lftj.connect(path, read_only=True) as reader:
        assert reader.profile().to_dict()["commits"] == []
        found = slowest(reader)
        assert max(found.values(), key=lambda each: each["seconds"])["relation"] == "r"
        for key, each in found.items():
            assert 0.0 < each["seconds"] <= spent[key]["seconds"] + 1e-5
            assert 1 <= each["commits"] <= spent[key]["commits"]
            assert each["steps"] <= spent[key]["steps"]
            assert each["reason"]
    ws.close()


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
