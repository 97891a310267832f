# pyright: strict
"""A program of a user that calls all of the public surface, for the type checker and to be run."""

import datetime
import decimal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import lftj
from lftj import _, vars

folder = Path(tempfile.mkdtemp())
x, y, z = vars("x y z")
a: lftj.Var = x

# ── declarations, rules, data ─────────────────────────────────────────────────────────────────────
ws: lftj.Workspace = lftj.connect(folder / "w.lftj", keep="all", durability="off")
edge: lftj.Relation = ws.relation("edge", {"x": int, "y": int})
price = ws.function("price", {"x": lftj.INT}, lftj.decimal(8, 2))
types: dict[str, lftj.Type] = {
    "b": lftj.BOOL, "d": lftj.DATE, "f": lftj.FLOAT, "s": lftj.STR, "t": lftj.TIMESTAMP,
    "u": lftj.UNSIGNED,
}  # fmt: skip
every = ws.relation("every", types, key="s")
reach = ws.view("reach", {"x": int, "y": int})
first: lftj.RuleHandle = ws.add_rule(reach(x, y) <= edge(x, y))
ws.add_rule(reach(x, z) <= reach(x, y) & edge(y, z))
texts: list[lftj.RuleHandle] = ws.add_rules(".decl odd(x: number) odd(x) :- edge(x, _), x % 2 = 1.")
degree = ws.view("degree", {"x": int, "n": int})
counting = ws.add_rule(lftj.rule(degree(x, lftj.count()), edge(x, y)))
calculated = ws.view("calculated", {"x": int, "y": int})
formula: lftj.Formula = edge(x, y) & (x < y) & ~edge(y, x) & (lftj.to_string(x) != "7")
ws.add_rule(calculated(x, lftj.fn.max(x + y * 2 - 1)) <= formula)
loaded: int = ws.load(edge, [(1, 2), (2, 3), (3, 4)])
ws.load("every", [(True, datetime.date(2020, 1, 2), 1.5, "a", datetime.datetime(2020, 1, 2), 3)])
ws.load(price, [(1, decimal.Decimal("2.50"))])

# ── expressions ───────────────────────────────────────────────────────────────────────────────────
expressions: list[lftj.Expression] = [
    lftj.band(x, y), lftj.bnot(x), lftj.bor(x, y), lftj.bshl(x, 1), lftj.bshr(x, 1),
    lftj.bshru(x, 1), lftj.bxor(x, y), lftj.land(x, y), lftj.lnot(x), lftj.lor(x, y),
    lftj.lxor(x, y), lftj.cat("a", "b"), lftj.strlen("a"), lftj.substr("abc", 0, 1),
    lftj.concat(lftj.to_string(x), ","), lftj.day(x), lftj.month(x), lftj.year(x),
    lftj.round_(x, 1), lftj.range_(1, 3), lftj.to_date("2020-01-01"), lftj.to_float(x),
    lftj.to_number("1"), lftj.to_unsigned(x), lftj.min_(x), lftj.max_(x), lftj.mean(x),
    lftj.sum_(x), lftj.agg("total", x), lftj.aggregate("count", None, edge(x, y)),
    lftj.fn.count_distinct(x), lftj.fn.arg_min(x, y), lftj.fn.arg_max(x, y), lftj.fn.median(x),
    lftj.fn.first(x, y, z), lftj.fn.last(x, y), lftj.fn.quantile(x, 0.95),
    lftj.fn.quantile_disc(x, 0.95), lftj.aggregate("last", x, y, edge(x, y)),
    lftj.fn.stddev(x), lftj.fn.mode(x), lftj.fn.any(y),
    lftj.fn.if_(x > 1, abs(x), lftj.fn.hours(y)),
]  # fmt: skip
formulas: list[lftj.Formula] = [
    lftj.contains("a", "ab"), lftj.match("a.*", "ab"), lftj.choice(x, y), edge(x, _),
    lftj.optional(edge(x, y)), lftj.fn.is_null(x),
]  # fmt: skip
predicate: lftj.Predicate = edge

# ── transactions ──────────────────────────────────────────────────────────────────────────────────
seen: list[lftj.Result] = []
subscription: lftj.Subscription = ws.subscribe("reach", seen.append)
consumer: lftj.Consumer = ws.consumer("me", reach)
with ws.transaction(message="a change") as tx:
    opened: lftj.Transaction = tx
    tx.insert(edge, [(4, 5)], existing="error")
    tx.delete(edge, [(1, 2)], missing="error")
    tx.upsert(every, [(True, datetime.date(2021, 1, 1), 2.5, "a", datetime.datetime.now(), 4)])
    removed: int = tx.delete_where(edge, x=77)
    tx.delete(every, keys=["nobody"])
    applied: int = tx.apply_changes("edge", [{"op": "i", "x": 2, "y": 3}], feed="f", position=1)
    equal: lftj.Synced = tx.sync("edge", [(2, 3), (3, 4), (4, 5)])
    preview: lftj.Preview = tx.preview()
    coming: lftj.Result = preview["reach"]
change: lftj.Result = tx.changes("reach")
names: list[str] = tx.changes()
version: int = tx.version
work: int = tx.work
subscription.cancel()
named: lftj.Consumer = ws.consumers["me"]
consumer.drop()
written: int = ws.write_delta(reach, folder / "lake", name="sink", storage_options={"a": "b"})

# ── results ───────────────────────────────────────────────────────────────────────────────────────
result: lftj.Result = ws["reach"]
rows = result.fetchall()
one = result.fetchone()
dicts = result.to_dicts()
starts = [row.x for row in result.named()]
count: int = result.arrow().num_rows
empty: bool = result.df().empty
height: int = result.pl().height
ordered: lftj.Result = result.sort("y", descending=True).head(2)
result.write_csv(folder / "r.csv")
result.write_parquet(folder / "r.parquet")
result.write_facts(folder / "r.facts")
answer: lftj.Result = ws.query(reach(2, y))
again: lftj.Result = ws.query("reach(2, y)")
ws.prepare()
moved: bool = ws.repartition(4)
ask = ws.prepare_query(reach(lftj.parameter, y))
known: list[tuple[object, ...]] = sorted(ask(2).fetchall()) + ws.query("reach(?, y)", 3).fetchall()
columns: tuple[str, ...] = answer.columns
kinds: Sequence[lftj.Type] = answer.types

# ── why, plans, the past ──────────────────────────────────────────────────────────────────────────
proof: lftj.Proof = ws.explain("reach", (2, 4))
proofs: Iterator[lftj.Proof] = ws.explain("reach", (2, 4), proofs=2)
lftj.check_proof(proof, proof.facts, proof.program)
checker: lftj.ProofChecker = lftj.ProofChecker(proof.program, proof.facts)
missing: lftj.WhyNot = ws.why_not("reach", (1, 2))
explained: lftj.ChangeExplanation = tx.explain_change("reach", (1, 2))
plan: lftj.PlanReport = ws.plan()
analysis: lftj.PlanAnalysis = ws.explain_plan(first, analyze=True)
profile: lftj.Profile = ws.profile(last=1)
memory: lftj.Result = ws.memory()
snapshot: lftj.Snapshot = ws.snapshot()
wrong: list[lftj.Discrepancy] = ws.verify()
past: lftj.Snapshot = ws.at(ws.version - 1)
history: lftj.ViewHistory = ws.history("reach", since=1)
stream: lftj.Changes = ws.changes("reach", since=1, timeout=0.0)
branch: lftj.Branch = ws.branch("trial")
branch.load("edge", [(9, 9)])
merged: int = ws.merge(branch)
branch.drop()
page: Path = ws.report(folder / "page.html", samples=1, explaining=0.1)
with ws.limits(work=10**9, seconds=60, memory=1 << 32):
    ws.remove_rule(counting)

# ── other evaluators ──────────────────────────────────────────────────────────────────────────────
program = ".decl p(x: number) .decl q(x: number) q(x) :- p(x), x > 1."
evaluated: dict[str, lftj.Result] = lftj.evaluate(program, {"p": [(1,), (2,)]}, by="substitution")
step = lftj.Step(insert={"p": [(1,)]})
difference: lftj.Difference | None = lftj.compare(program, [step])
sql: lftj.SqlProgram = lftj.to_sql(program)
longest = lftj.UserAggregate(
    "longest", argument_types=(lftj.INT,), result_type=lftj.INT, zero=0, lift=int, combine=max
)


def pair(value: float) -> tuple[float, int]:
    return value, 1


mean_of = lftj.UserAggregate(
    "mean_of",
    zero=(0.0, 0),
    lift=pair,
    combine=lambda one, other: (one[0] + other[0], one[1] + other[1]),
    inverse=lambda state: (-state[0], -state[1]),
    finish=lambda state: state[0] / state[1],
    argument_types=(float,),
    result_type=float,
)

rows_of = lftj.UserAggregate(
    "rows_of", 0, lambda: 1, lambda a, b: a + b, argument_types=(), result_type=int
)
products = lftj.UserAggregate(
    "products", 0, lambda a, b: a * b, lambda a, b: a + b, argument_types=(int, int),
    result_type=int,
)  # fmt: skip
most = lftj.UserAggregate("most", 0.0, lambda p: p, max, argument_types=(float,), result_type=float)

tuned = lftj.connect(tuning=lftj.Tuning(), executor=lftj.ThreadExecutor(threads=1))
tuned.add_aggregate(longest)


@tuned.function
def doubled(number: int) -> int:
    return 2 * number


def halved(number: int) -> int:
    return number // 2


tuned.function(halved, version="2")


@tuned.function(argument_types=(int, float), result_type=float, columns="numpy", version="1")
def scaled(numbers: object, factors: object) -> object:
    return numbers


own: lftj.UserFunction = lftj.UserFunction(doubled.function, name="twice")
registered: lftj.UserFunction = tuned.function(own)
term: lftj.Expression = doubled(x)
with tuned.transaction() as tx:
    tx.add_function(lftj.UserFunction(doubled.function, name="again"))
set_anew: lftj.ProgramChange = tuned.program(program, name="small")

# ── schemas ───────────────────────────────────────────────────────────────────────────────────────
changing = lftj.connect(keep="all")
changing.relation("item", {"id": int, "price": int}, key="id")
changing.load("item", [(1, 10)])
filled = changing.relation("filled", {"id": int, "n": int}, default={"n": 0})
of_columns: dict[str, object] = filled.default
told: list[lftj.Result] = []
changing.subscribe("item", told.append)
wide: lftj.Relation = changing.alter("item", add={"land": str}, default={"land": "FR"}, key=None)
with changing.transaction() as tx:
    tx.alter(wide, rename={"price": "cents"}, retype={"cents": float}, drop=["land"], to="product")
entry: lftj.Result = told[0]
if isinstance(entry, lftj.SchemaChange):
    steps: Sequence[str] = entry.steps
    as_data: dict[str, object] = entry.to_dict()
changing.drop_relation("product")

# ── errors ────────────────────────────────────────────────────────────────────────────────────────
errors: list[type[lftj.LftjError]] = [
    lftj.ArityError, lftj.BranchError, lftj.CommandError, lftj.ConsumerError, lftj.CopyError,
    lftj.DeclarationError,
    lftj.DistributedError, lftj.DurableError, lftj.ExplanationError, lftj.ExpressionError,
    lftj.FileMissingError, lftj.FrameError, lftj.KeyViolationError, lftj.LimitError,
    lftj.MergeConflictError, lftj.MissingDependencyError, lftj.MissingRowError,
    lftj.NullValueError, lftj.OptionError, lftj.ParseError, lftj.PastError,
    lftj.PathOutsideError, lftj.ProgramErrors, lftj.ProofError, lftj.SchemaInUseError,
    lftj.SqlError, lftj.StillNeededError, lftj.StratificationError, lftj.TransactionError,
    lftj.TypeClashError,
    lftj.GroupCycleError,
    lftj.UnknownNameError, lftj.UnsafeRuleError, lftj.UserFunctionError, lftj.ValueRangeError,
    lftj.ValueTypeError,
    lftj.WrongValueError,
]  # fmt: skip
try:
    ws.add_rules("nonsense(")
except lftj.ProgramErrors as errors_found:
    error = errors_found.errors[0]
    place: lftj.Span | None = error.span
    code: str = error.code
    remedy: str | None = error.hint
spark = lftj.local_spark  # called where the extra is installed
tuned.close()
ws.close()
