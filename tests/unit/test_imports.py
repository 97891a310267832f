"""Import rules that a layer diagram cannot say: which file may import which outside package, and
what `import lftj` may load.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import networkx
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("lftj", "sensitivity", "scantree", "partition")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]
LAZY = {"pandas", "polars", "pyspark", "matplotlib", "duckdb"}
KNOTS = {
    # A branch is a workspace, and workspaces give branches.
    frozenset({"lftj.api.branch", "lftj.api.branching", "lftj.api.workspace"}),
    # Records are made of manifests, and read as manifests.
    frozenset(f"lftj.distributed.files.{name}" for name in ("manifest", "manifest_records")),
    # A kernel finds its dispatcher when Numba is there to make one.
    frozenset({"lftj.scantree.jit.decorators", "lftj.scantree.jit.dispatchers"}),
}
"""Files that import one another, most for types alone."""
VAGUE = {"utils", "util", "misc", "core", "common", "helpers"}


def _imported(nodes: Iterator[ast.AST]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


def _running(tree: ast.AST, *, functions: bool) -> Iterator[ast.AST]:
    """All nodes that ever run, so not those under `if TYPE_CHECKING`; without `functions`, those
    that run when the module is imported.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not functions:
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from _running(node, functions=functions)


@pytest.mark.parametrize("name", NAMES)
def test_outside_packages_are_imported_only_where_they_may_be(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    everywhere = _imported(_running(tree, functions=True))
    if not (name.endswith("_kernels.py") or name.startswith("scantree/jit/")):
        assert not everywhere & {"numba", "llvmlite"}, (
            "Numba belongs into *_kernels.py and scantree/jit"
        )
    if name != "partition/spark.py":
        assert "pyspark" not in everywhere, "Spark belongs into partition/spark.py"
        assert not _imported(_running(tree, functions=False)) & LAZY, (
            "import it inside the function that needs it"
        )


def test_no_files_import_one_another_in_a_circle() -> None:
    graph = grimp.build_graph("lftj", include_external_packages=False)
    arrows = networkx.DiGraph(
        (name, other)
        for name in graph.modules
        for other in graph.find_modules_directly_imported_by(name)
    )
    circles = {frozenset(each) for each in networkx.strongly_connected_components(arrows)}
    found = {each for each in circles if len(each) > 1}
    assert max(map(len, found), default=0) <= 3
    assert found == KNOTS


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _exported(package: str) -> list[str]:
    """The names in `__all__` of a package; none where it is a module, or exports nothing."""
    init = ROOT.joinpath(*package.split("."), "__init__.py")
    for node in _tree(init).body if init.exists() else ():
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def _taken(floor: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that a file of a floor takes of other floors, and where from."""
    whole = dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names if each.name.startswith("lftj"))
        elif isinstance(node, ast.ImportFrom) and node.module == "lftj":
            whole |= {each.asname or each.name: f"lftj.{each.name}" for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            first, second, *_ = [*(node.module or "").split("."), ""]
            if first == "lftj" and second != floor:
                yield from ((node.module or "", each.name) for each in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (of := ast.unparse(node.value)) in whole:
            yield whole[of], node.attr


@pytest.mark.parametrize("floor", ["explain", "sql", "distributed"])
def test_these_floors_take_of_others_only_what_their_rooms_export(floor: str) -> None:
    taken = [
        (str(path.relative_to(ROOT)), *each)
        for path in sorted((ROOT / "lftj" / floor).rglob("*.py"))
        for each in _taken(floor, _tree(path))
    ]
    assert taken
    assert [each for each in taken if each[2] not in _exported(each[1])] == []


def _package(name: str) -> str:
    package = name.removesuffix("/__init__.py").replace("/", ".")
    return package if package.startswith("lftj") else f"lftj.{package}"


EXPORTING = [
    name
    for name in NAMES
    if name.endswith("/__init__.py") and name != "lftj/__init__.py" and _exported(_package(name))
]


@pytest.mark.parametrize("name", EXPORTING)
def test_a_room_gives_what_it_exports(name: str) -> None:
    package = _package(name)
    room, exported = importlib.import_module(package), _exported(package)
    assert len(set(exported)) == len(exported)
    assert all(hasattr(room, each) for each in exported)
    for node in ast.walk(_tree(ROOT / name)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            home = importlib.import_module(node.module or "")
            for each in node.names:
                assert getattr(room, each.name) is getattr(home, each.name)
    with pytest.raises(AttributeError, match="nothing"):
        _ = room.nothing


@pytest.mark.parametrize("folder", ["tests", "bench", "examples"])
def test_ours_are_imported_from_lftj(folder: str) -> None:
    for path in (ROOT / folder).rglob("*.py"):
        found = _imported(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        assert not found & {"partition", "scantree", "sensitivity"}, path


def test_modules_of_others_are_not_taken_for_ours(tmp_path: Path) -> None:
    for name in ("partition", "scantree", "sensitivity"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('this module is not ours')\n")
    code = "import lftj; ws = lftj.connect(); ws.add_rules('.decl e(x: number) e(1).'); "
    code += "print(ws['e'].fetchall())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "[(1,)]\n"


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [name for name in NAMES if set(Path(name).with_suffix("").parts) & VAGUE]


@pytest.mark.parametrize(
    "statement", ["import lftj", "import lftj.cli", "import lftj; lftj.connect()"]
)
def test_import_loads_no_heavy_optional_package(statement: str) -> None:
    code = f"{statement}\nimport sys; print(' '.join(sorted(set(sys.modules) & {LAZY!r})))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == ""


# What a short program does without, and the package or module that has it.
RECURSION = "lftj.maintenance.ladder lftj.maintenance.counting lftj.maintenance.dred "
RECURSION += "lftj.maintenance.lattice lftj.maintenance.reachability lftj.maintenance.separable"
UPDATES = "lftj.maintenance.counting.elastic_update lftj.maintenance.dred.delete_rederive "
UPDATES += "lftj.maintenance.lattice.lattice_update"
NEVER = "numba llvmlite html lftj.syntax.diagnosis lftj.proofs lftj.distributed lftj.report "
NEVER += "lftj.explain lftj.scantree.jit.ahead lftj.scantree.jit.building "
NEVER += "lftj.storage.durable.packed_changes"
FACTS = ".decl e(x: number, y: number)\n.output e\ne(1, 2). e(2, 3).\n"
RULES = ".decl p(x: number, n: number)\n.output p\np(x, count()) :- e(x, y), e(y, _), !e(y, x).\n"
CLOSURE = ".decl q(x: number, y: number)\n.output q\nq(x, y) :- e(x, y).\n"
CLOSURE += "q(x, z) :- q(x, y), e(y, z).\n"


@pytest.mark.parametrize(
    ("program", "without"),
    [(FACTS, RECURSION), (FACTS + RULES, RECURSION), (FACTS + CLOSURE, UPDATES)],
    ids=["facts", "rules", "recursion"],
)
def test_a_short_program_loads_only_what_it_needs(
    program: str, without: str, tmp_path: Path
) -> None:
    (tmp_path / "program.dl").write_text(program, encoding="utf-8")
    code = f"""
import sys, lftj.cli
failed = lftj.cli.main(["run", {str(tmp_path / "program.dl")!r}, "-D", "-"])
refused = {f"{NEVER} {without}".split()!r}
found = [m for m in sys.modules if any(m == r or m.startswith(r + ".") for r in refused)]
print("loaded:", failed, *sorted(found))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "loaded: 0"


def test_objects_that_a_program_froze_stay_frozen_while_we_import() -> None:
    code = """
import gc
gc.freeze()
before = gc.get_freeze_count()
import lftj
lftj.connect
print(gc.get_freeze_count() > before // 2 > 0, gc.isenabled())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["True", "True"]
