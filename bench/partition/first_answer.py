"""Program that `from_empty_cache` runs in an empty environment: a session of Spark with four
workers, the flights of the demo in parts, the first answer. Prints the processor seconds that it
took with all processes that it started, the session's own start included.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

_TICKS = os.sysconf("SC_CLK_TCK")


def seconds_of_all(root: int) -> float:
    """Seconds of a process and all below it, also of those that have ended."""
    parents, spent = dict[int, int](), dict[int, int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(stat.parent.name)
        parents[process], spent[process] = int(fields[1]), sum(map(int, fields[11:15]))

    def below(process: int) -> bool:
        while process != root and process in parents:
            process = parents[process]
        return process == root

    return sum(ticks for process, ticks in spent.items() if below(process)) / _TICKS


def main() -> None:
    """Print the rows of a view, and the seconds."""
    import lftj
    from lftj.demo import feed
    from lftj.demo.on_spark import PARTS, SparkDesk

    spark = lftj.local_spark(PARTS)
    with TemporaryDirectory() as folder:
        executor = lftj.SparkExecutor(spark, PARTS, path=Path(folder) / "flights")
        with lftj.connect(executor=executor) as workspace:
            SparkDesk(workspace).load(feed.FIRST_DAY - feed.ONE_DAY, Path(folder))
            rows = len(workspace["route_delay"].fetchall())
            print(rows, seconds_of_all(os.getpid()))
    spark.stop()


if __name__ == "__main__":
    main()
