"""The losses of a gate: workloads and parts of benchmarks are counted."""

from __future__ import annotations

from bench.ablation import GATE_OF, cost_of, loss_of


def test_a_workload_takes_more_kernel_steps_without_what_it_carries() -> None:
    loss = loss_of("row scan", turns=1)
    assert loss.gate == GATE_OF["row scan"] == "late flights"
    assert not loss.refused
    assert loss.steps > 2


def test_the_steps_of_a_part_of_a_benchmark_are_counted() -> None:
    assert cost_of("recursion.chosen", "s").steps > 0
