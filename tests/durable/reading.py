"""A reader in a process of its own: `python -m tests.durable.reading PATH COMMITS`. It waits for
one version after the other, and prints the versions that it saw whole.
"""

from __future__ import annotations

import sys

import lftj
from tests.durable import workload


def main(path: str, last: int) -> None:
    """Follow the writer to its last version."""
    known = workload.expected(last)
    told = 0
    with lftj.connect(path, read_only=True) as reader:
        print(workload.committed(reader, known), flush=True)

        def hear(changes: lftj.Result) -> None:
            nonlocal told
            told += sum(row[-2] for row in changes.fetchall())

        if reader.version:
            told = len(reader["edge"])
            reader.subscribe("edge", hear)
        while reader.version < last:
            assert reader.wait_for(reader.version + 1, timeout=60)
            print(workload.committed(reader, known), flush=True)
            assert told == len(reader["edge"]), "change sets do not add up"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
