"""Programs on published data with the sizes of their results, as found by independent programs.

Sources of the numbers: `published` in the paper or repository the data comes from; `independent`
Soufflé or a direct program in another language. All count distinct tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa

from bench.files import delimited, oriented, symmetric, triples

Tables = dict[str, pa.Table]
Source = Literal["published", "independent"]


@dataclass(frozen=True, slots=True)
class Case:
    """One program of `bench/programs`, the data it runs on and what has to come out."""

    name: str
    program: str
    tables: Callable[[Path], Tables]
    expected: dict[str, int]
    source: Source
    size: Literal["s", "m", "l"] = "s"
    """The smallest `--size` that includes the case."""


def _numbers(
    folder: str, files: dict[str, tuple[str, ...]], suffix: str, delimiter: str, root: Path
) -> Tables:
    return {
        name: delimited(root / folder / f"{name}{suffix}", columns, pa.int64(), delimiter)
        for name, columns in files.items()
    }


_CSPA = {"Assign": ("to", "from"), "Dereference": ("pointer", "cell")}
_CSDA = {"Arc": ("from", "to"), "NullEdge": ("from", "to")}
_GALEN = {
    "p": ("x", "y"),
    "q": ("x", "k", "y"),
    "c": ("y", "w", "z"),
    "u": ("w", "k", "z"),
    "r": ("k", "l", "m"),
    "s": ("k", "l"),
}
_CRDT = {"insert": ("ctr", "node", "parent_ctr", "parent_node"), "remove": ("ctr", "node")}
_POLONIUS = {
    "cfg_edge": ("from", "to"),
    "child_path": ("child", "parent"),
    "path_is_var": ("path", "variable"),
    "path_assigned_at_base": ("path", "point"),
    "path_moved_at_base": ("path", "point"),
    "path_accessed_at_base": ("path", "point"),
    "var_used_at": ("variable", "point"),
    "var_defined_at": ("variable", "point"),
    "var_dropped_at": ("variable", "point"),
    "use_of_var_derefs_origin": ("variable", "origin"),
    "drop_of_var_derefs_origin": ("variable", "origin"),
    "universal_region": ("origin",),
    "placeholder": ("origin", "loan"),
    "known_placeholder_subset": ("shorter", "longer"),
    "subset_base": ("sub", "super", "point"),
    "loan_issued_at": ("origin", "loan", "point"),
    "loan_killed_at": ("loan", "point"),
    "loan_invalidated_at": ("point", "loan"),
}


def _polonius(root: Path) -> Tables:
    folder = root / "polonius" / "add_defaults"
    return {
        name: delimited(folder / f"{name}.facts.xz", columns, pa.string())
        for name, columns in _POLONIUS.items()
    }


def _crdt(root: Path) -> Tables:
    return {
        name: delimited(root / "crdt" / f"{name}.ssv.xz", columns, pa.int64(), " ")
        for name, columns in _CRDT.items()
    }


def _graph(name: str, shape: Callable[[pa.Table], pa.Table] | None, root: Path) -> Tables:
    edges = delimited(root / "graphs" / f"{name}.tsv.xz", ("x", "y"), pa.int64())
    return {"edge": shape(edges) if shape else edges}


def _triangles(name: str, count: int) -> Case:
    return Case(
        f"triangles_{name}",
        "triangles",
        partial(_graph, name, oriented),
        {"triangle": count},
        "independent",
    )


def _closure(
    name: str,
    count: int,
    source: Source,
    size: Literal["m", "l"],
    shape: Callable[[pa.Table], pa.Table] | None = None,
) -> Case:
    return Case(
        f"closure_{name}", "closure", partial(_graph, name, shape), {"path": count}, source, size
    )


def _xz_tsv(folder: str, files: dict[str, tuple[str, ...]]) -> Callable[[Path], Tables]:
    return partial(_numbers, folder, files, ".tsv.xz", "\t")


CASES: tuple[Case, ...] = (
    _triangles("Wiki-Vote", 608_389),
    _triangles("facebook_combined", 1_612_010),
    _triangles("CA-GrQc", 48_260),
    _triangles("p2p-Gnutella08", 2_383),
    _triangles("email-Eu-core", 105_461),
    _closure("email-Eu-core", 793_283, "independent", "m"),
    _closure("facebook_combined", 1_888_898, "independent", "m"),
    _closure("Wiki-Vote", 11_947_132, "published", "l"),
    _closure("p2p-Gnutella08", 13_148_244, "independent", "l"),
    _closure("CA-GrQc", 17_293_270, "independent", "l", symmetric),
    Case(
        "cspa_1k",
        "cspa",
        _xz_tsv("cspa/1k", _CSPA),
        {"valueFlow": 2_952, "valueAlias": 8_945, "memoryAlias": 3_467},
        "published",
    ),
    Case(
        "cspa_10k",
        "cspa",
        _xz_tsv("cspa/10k", _CSPA),
        {"valueFlow": 30_152, "valueAlias": 384_485, "memoryAlias": 112_761},
        "published",
        "m",
    ),
    Case("csda_10k", "csda", _xz_tsv("csda/10k", _CSDA), {"null": 12_456}, "independent"),
    Case(
        "rdfs_lubm",
        "rhodf",
        lambda root: {"triple": triples(root / "lubm" / "lubm1.nt.xz")},
        {"triple": 126_732, "typed": 40_051},
        "independent",
        "m",
    ),
    Case(
        "polonius_add_defaults",
        "polonius",
        _polonius,
        {
            "subset": 174_787,
            "origin_contains_loan_on_entry": 5_250,
            "loan_live_at": 2_352,
            "origin_live_on_entry": 37_956,
            "path_maybe_uninitialized_on_exit": 629_348,
            "errors": 0,
        },
        "independent",
    ),
    Case(
        "crdt",
        "crdt",
        _crdt,
        {"next_visible": 104_851, "next_counter": 104_653},
        "independent",
        "l",
    ),
    Case(
        "galen",
        "galen",
        partial(_numbers, "galen", _GALEN, ".csv.xz", ","),
        {"p": 7_560_179, "q": 16_595_494},
        "published",
        "l",
    ),
)
