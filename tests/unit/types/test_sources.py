"""Names that say a role: equal to their text, the same after pickling and in files."""

import ast
import pickle
from itertools import pairwise
from pathlib import Path

import pytest

import lftj
from lftj.distributed.files.manifest import Manifest
from lftj.types.sources import (
    HiddenName,
    Role,
    Source,
    in_role,
    is_hidden,
    lineage,
    read_name,
    without_role,
)

PACKAGE = Path(lftj.__file__).parent

SHARE = Source("e", Role.CUT, "0+all")
IN_FILES = [
    "e",
    "e_2",
    Source("e", Role.BASE),
    SHARE,
    Source(SHARE, Role.BASE),
    Source(HiddenName(7, "not", 12), Role.CUT, "one"),
    HiddenName(7, "count", 1),
    Source("v", Role.SHARE),
    Source(Source("v", Role.GONE), Role.NEWS),
    Source(Source(Source("v", Role.GONE), Role.SOUGHT), Role.NEWS),
    Source(Source("v", Role.WITNESSED), Role.CUT, "1"),
    Source("", Role.STRATUM, "a@0 b@0"),
]


def parts(name: str) -> list[object]:
    """All that tells a name from others, its type included."""
    return [
        (type(each), str(each), each.role, each.column) if isinstance(each, Source) else each
        for each in lineage(name)
    ]


@pytest.mark.parametrize("name", IN_FILES)
def test_a_name_is_the_same_after_a_file_and_after_a_pickle(name: str):
    assert parts(read_name("".join(name))) == parts(name)
    assert parts(pickle.loads(pickle.dumps(name))) == parts(name)


def test_a_name_stands_for_its_text():
    assert SHARE == "e@0+all"
    assert hash(SHARE) == hash("e@0+all")
    assert {"e#old": 1}[Source("e", Role.PREVIOUS)] == 1
    assert Source("e", Role.CHANGED, (0, 2)) == "e#change(0, 2)"


def test_a_role_is_read_from_the_type_alone():
    old = Source("e", Role.PREVIOUS)
    assert in_role(old, Role.PREVIOUS)
    assert not in_role("e#old", Role.PREVIOUS)
    assert (without_role(old, Role.PREVIOUS), without_role(old, Role.BASE)) == ("e", "e#old")


def test_users_know_the_shares_of_their_relations_and_nothing_else():
    known = ["e", SHARE, Source("e", Role.NEWS), Source(Source("e", Role.GONE), Role.NEWS)]
    assert not any(map(is_hidden, known))
    hidden = HiddenName(1, "not", 1)
    assert all(map(is_hidden, [hidden, Source(hidden, Role.CUT, "0"), Source(SHARE, Role.BASE)]))


def test_a_manifest_that_was_written_before_is_read_with_roles(tmp_path: Path):
    base = Source("e", Role.BASE)
    Manifest(2, version=1, log={base: (), "v": ()}, counts={base: 3, "v": 1}).store(tmp_path)
    text = next(tmp_path.glob("manifest-*.json")).read_text()
    assert '"log": {"e#base": [], "v": []}' in text
    assert '"counts": {"e#base": 3, "v": 1}' in text
    found = Manifest.load(tmp_path)
    assert found is not None
    assert list(found.base_log()) == [base]
    assert [parts(name) for name in found.counts] == [parts(base), ["v"]]


# ── no role is looked for in a text ───────────────────────────────────────────────────────────────
CUTTING = {"removesuffix", "removeprefix", "endswith", "startswith", "split", "rsplit", "partition"}
ROLES = {role.value.strip() for role in Role}
NAMES_NO_RELATION = {"notebook.py", "cli", "demo", "frames", "syntax"}
"""Rooms that read texts of users and files."""


def reads_a_role(node: ast.AST) -> bool:
    """True for code that makes a name by hand, or looks for a role in its text."""
    match node:
        case ast.Compare(left=ast.Constant(value=str() as text), ops=[ast.In() | ast.NotIn(), *_]):
            return text in ROLES
        case ast.Call(
            func=ast.Attribute(attr=attr), args=[ast.Constant(value=str() as text), *_]
        ) if attr in CUTTING:  # "-" and "!" begin other texts, too
            return text.strip() in ROLES - {"-", "!"} or text.startswith("#")
        case ast.JoinedStr(values=values):
            return any(
                isinstance(before, ast.FormattedValue)
                and isinstance(behind, ast.Constant)
                and str(behind.value).startswith("#")
                for before, behind in pairwise(values)
            )
        case ast.BinOp(op=ast.Add(), right=ast.Constant(value=str() as text)):
            return text in ROLES
    return False


@pytest.mark.parametrize(
    "code",
    [
        '"#" in name',
        'name.removesuffix("#old")',
        'name.split("%")',
        'f"{name}#delta"',
        'f"{name}#{n}"',
        'name + "~"',
    ],
)
def test_a_role_in_a_text_is_noticed(code: str):
    assert any(map(reads_a_role, ast.walk(ast.parse(code))))


def test_no_module_makes_or_reads_a_role_as_text():
    found = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in sorted(PACKAGE.rglob("*.py"))
        if file.relative_to(PACKAGE).parts[0] not in NAMES_NO_RELATION
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.expr) and reads_a_role(node)
    ]
    assert found == []
