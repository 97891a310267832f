"""Views over flights on Spark: delays per route and unregistered aeroplanes, kept true day by day.
Needs the extra `spark`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import lftj
from lftj.demo import feed

RULES = """
.decl flight(id: number, day: date, carrier: symbol, origin: symbol, dest: symbol, leaves: number,
    arrives: number)
.decl tail[id: number]: symbol
.decl delay[id: number]: number
.decl plane(tail: symbol, manufacturer: symbol, model: symbol, seats: number)

.decl route_delay(carrier: symbol, origin: symbol, dest: symbol, flights: number, mean: float,
    most: number)
route_delay(c, o, x, count(), mean(m), max(m)) :- flight(f, _, c, o, x, _, _), delay[f] = m.

.decl unregistered(tail: symbol, carrier: symbol)
unregistered(t, c) :- flight(f, _, c, _, _, _, _), tail[f] = t, !plane(t, _, _, _).

.decl in_all(flights: number, minutes: number)
in_all(count(), sum(m)) :- flight(f, _, _, _, _, _, _), delay[f] = m.
"""

spark = lftj.local_spark(threads=2)
with tempfile.TemporaryDirectory() as folder:
    ws = lftj.connect(
        executor=lftj.SparkExecutor(spark, partitions=4, path=Path(folder) / "flights")
    )
    known = feed.past(feed.FIRST_DAY - feed.ONE_DAY)
    with ws.transaction() as tx:
        tx.add_rules(RULES)
        tx.insert(
            "flight", spark.createDataFrame(known.flights)
        )  # read by the executors, as any DataFrame or Parquet file would be
        tx.insert("tail", known.tails)
        tx.insert("delay", known.delays)
        tx.insert("plane", feed.table("planes"))
    print(
        f"{len(ws['flight']):,} flights, {len(ws['route_delay'])} routes, in all "
        f"{ws['in_all'].fetchall()}"
    )

    for offset in range(2):
        day = feed.daily(feed.FIRST_DAY + feed.ONE_DAY * offset)
        with ws.transaction() as tx:
            tx.insert("flight", day.flights)
            tx.insert("tail", day.tails)
            tx.insert("delay", day.delays)
        print(
            f"{day.day}: {len(tx.changes('route_delay'))} changes of routes, "
            f"{len(tx.changes('unregistered'))} of aeroplanes"
        )

    worst = (
        ws["route_delay"]
        .to_spark()
        .where("flights >= 100")
        .orderBy("mean", ascending=False)
        .first()
    )
    print("slowest:", *worst[:3], f"{worst['mean']:.1f} minutes")
    ws.close()
