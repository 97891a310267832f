"""Commits on a standalone Spark cluster while workers, executors and drivers die, processes pause,
tasks run twice, rows and stored parts are lost, disks are full and stores fail: after each commit
all rows are compared with those of one process.

`python -m bench campaign [--store folder|s3] [--commits 500] [--seed 1] [--json FILE]`
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.campaign import workload
from bench.campaign.playing import Campaign, Counts
from bench.campaign.surroundings import surroundings
from bench.nursery import nursery
from bench.partition.cluster import cluster
from lftj.distributed.work.warm import warm

CORES = 2
_INSIDE = "--inside"
_SHOWN = 10  # commits between two lines


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench campaign", description=__doc__)
    parser.add_argument("--store", choices=("folder", "s3"), default="folder")
    parser.add_argument("--commits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all counts to FILE")
    parser.add_argument(_INSIDE, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    """0 where nothing was lost, doubled, wrong or stuck. What is mounted is seen by this run only,
    and gone with it.
    """
    arguments = _arguments(words)
    if not arguments.inside:
        command = [sys.executable, "-m", "bench", "campaign", *words, _INSIDE]
        return subprocess.run(["unshare", "-m", *command], check=False).returncode
    counts = run(arguments.store, arguments.commits, arguments.seed, arguments.json)
    return 1 if counts.lost or counts.doubled or counts.wrong or counts.stuck else 0


def run(store: str, commits: int, seed: int, file: Path | None) -> Counts:
    """Play so many commits, and say what came of them now and then."""
    started = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the block is left in any case
    with (
        TemporaryDirectory(prefix="campaign-") as folder,
        nursery(Path(folder), warm, workload.warm) as workers,
        surroundings(Path(folder), store, workers) as around,
        cluster(Path(folder), CORES, around.of_hosts) as master,
    ):
        campaign = Campaign(master, around, seed, partial(print, flush=True))
        try:
            for number in range(1, commits + 1):
                campaign.play(number)
                if number % _SHOWN == 0 or number == commits:
                    _say(campaign.counts, time.monotonic() - started, file)
        finally:
            campaign.end()
    return campaign.counts


def _say(counts: Counts, seconds: float, file: Path | None) -> None:
    print(
        f"{counts.commits} commits in {seconds:.0f} s, {counts.happened.total()} faults, "
        f"{counts.drivers} drivers: {len(counts.lost)} lost, {len(counts.doubled)} doubled, "
        f"{len(counts.wrong)} wrong, {len(counts.stuck)} stuck",
        flush=True,
    )
    found = vars(counts) | {"took": seconds}
    if file is not None:
        file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    else:
        print(json.dumps(found))
