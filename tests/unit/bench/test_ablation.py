"""The losses of a gate: workloads and parts of benchmarks are counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.ablation import GATE_OF, cost_of, loss_of
from bench.ablation.rewrites import CASES, spared
from bench.ablation.sets import SETS, SetLoss, losses, named
from lftj.program.rewrites.pipeline import PASSES


def test_a_workload_takes_more_kernel_steps_without_what_it_carries() -> None:
    loss = loss_of("row scan", turns=1)
    assert loss.gate == GATE_OF["row scan"] == "late flights"
    assert not loss.refused
    assert loss.steps > 2


def test_the_steps_of_a_part_of_a_benchmark_are_counted() -> None:
    assert cost_of("recursion.chosen", "s").steps > 0


def test_sets_are_of_names_that_can_be_left_out() -> None:
    assert {name for names in SETS.values() for name in names} <= set(GATE_OF)
    assert named(["ranks", "walks, best first"]) == {
        "ranks": SETS["ranks"],
        "walks, best first": {"walks", "best first"},
    }


def test_a_gate_feels_a_set_of_which_it_needs_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ablation", "--sets", "--turns", "1", "--gate", "late flights"]
    words += ["--only", "searches of bodies", "--only", "search"]
    file = tmp_path / "losses.json"
    assert main([*words, "--json", str(file)]) == 0
    felt, not_felt = (SetLoss(**each) for each in json.loads(file.read_text()))
    assert felt.steps > 2
    assert felt.kept == pytest.approx(1, abs=0.2)
    assert not_felt.steps == not_felt.kept == 1
    assert "searches of bodies" in capsys.readouterr().out


def test_a_gate_that_refuses_to_measure_without_a_set_needs_it() -> None:
    (loss,) = losses({"ranks": SETS["ranks"]}, "s", 1, ["recursion.chain"])
    assert loss.refused
    assert loss.most > 1_000


def test_each_rewrite_that_a_normal_form_could_do_without_has_a_case() -> None:
    assert [each.name for each in PASSES if each.without] == list(CASES)


@pytest.mark.parametrize("name", CASES)
def test_a_rewrite_spares_what_its_list_says(name: str) -> None:
    assert [spared(name).figure] == [each.without for each in PASSES if each.name == name]
