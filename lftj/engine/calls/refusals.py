# SPDX-License-Identifier: Apache-2.0
"""Everything that one backend cannot do: the list of refusals.

A capability that is not listed for a backend works there, with the same answer. A backend raises
what the list says in the method itself, so nothing else decides what is refused.
"""

from __future__ import annotations

from enum import Enum

from lftj.errors import DeclarationError, DistributedError, DurableError, LftjError
from lftj.functions.aggregates import AGGREGATES, listed
from lftj.scantree.frozen import frozen


class Kind(Enum):
    """Kinds of backend, each as messages call a workspace over it."""

    MEMORY = "a workspace in memory"
    PATH = "a workspace at a path"
    PARTS = "a distributed workspace"


@frozen
class Refusal:
    """Error for one capability. `problem` may hold `{what}`, which is what the caller gave."""

    problem: str
    hint: str
    error: type[LftjError] = DistributedError
    code: str = "E400"


def _feed(kind: Kind) -> Refusal:
    return Refusal(
        f"{kind.value} cannot do this: feed, which notes micro-batches of Spark with their rows",
        "connect(executor=lftj.SparkExecutor(…)) can; here load what came, for instance as Arrow: "
        "ws.load(relation, frame.toArrow())",
    )


def _for_a_path(option: str) -> Refusal:
    return Refusal(
        f"{option} is for a workspace at a path, found {option}={{what!r}}",
        'give it one: lftj.connect("path"), or leave the option out',
        DeclarationError,
        "E160",
    )


def _not_yet(capability: str, hint: str) -> Refusal:
    return Refusal(f"a distributed workspace cannot do this yet: {capability}", hint)


def _not_for_parts(option: str, hint: str) -> Refusal:
    return Refusal(f"a distributed workspace cannot do this: {option}", hint)


_ONE_PROCESS = "nobody else commits to the path: ws.version and ws.subscribe tell of every commit"

_HELD_HERE = (
    "hold versions with ws.snapshot(), and follow changes with ws.subscribe(…) or tx.changes(…)"
)

REFUSALS: dict[tuple[str, Kind], Refusal] = {
    ("add_aggregate", Kind.PARTS): _not_yet(
        "add_aggregate",
        f"write the aggregate with {listed(AGGREGATES, 'or')}",
    ),
    ("add_function", Kind.PARTS): _not_yet(
        "add_function",
        "compute the column before loading, or write it with the built-in functions",
    ),
    ("Spark Connect", Kind.PARTS): Refusal(
        "{what}", "start a classic one, with lftj.local_spark() or master(…)"
    ),
    ("address", Kind.PARTS): Refusal(
        "{what}",
        "give a folder that driver and executors see under one name, such as a mounted share, or "
        "the address of an object store as text: s3://…, gs://…, az://… or abfss://…",
    ),
    ("writing to an address", Kind.PARTS): Refusal(
        "{what} is an address, which Spark's executors write",
        "connect(executor=lftj.SparkExecutor(spark, path=…)) writes there, and "
        "connect(path, read_only=True) reads along",
    ),
    ("asking in a cycle", Kind.PARTS): Refusal(
        "a distributed workspace cannot do this yet: an aggregate or `!( … )` of which a cycle of "
        "rules asks values that only the cycle finds, in the rule  {what}",
        "bind the variables that it shares with the rest by an atom of a finished relation, or "
        "take lftj.connect() without an executor",
    ),
    ("several rules that add up", Kind.PARTS): Refusal(
        "a distributed workspace cannot do this yet: several rules that add up, or a sum in a "
        "cycle of rules, for `{what}`",
        "add up in one rule, over a relation that the other rules derive, or take lftj.connect() "
        "without an executor",
    ),
    ("program", Kind.PARTS): _not_yet(
        "program",
        "add its rules once, with ws.add_rules(text), and take back what changes with remove_rule",
    ),
    ("delete by keys", Kind.PARTS): _not_yet(
        "delete by keys", "delete whole rows, or those of a value: tx.delete_where(relation, id=7)"
    ),
    ("apply_changes", Kind.PARTS): _not_yet(
        "apply_changes",
        "upsert what was written, and delete what went with tx.delete_where(…); a table of Delta "
        "or Iceberg is applied",
    ),
    ("sync", Kind.PARTS): _not_yet(
        "sync", "delete what went and insert what came, or tx.upsert rows of a key"
    ),
    **{
        (capability, Kind.PARTS): _not_yet(
            capability,
            "declare a relation of the new schema, and fill it: ws.load(new, ws[old].arrow())",
        )
        for capability in ("alter", "drop_relation")
    },
    ("feed", Kind.MEMORY): _feed(Kind.MEMORY),
    ("feed", Kind.PATH): _feed(Kind.PATH),
    **{
        (option, Kind.MEMORY): _for_a_path(option)
        for option in ("create", "read_only", "copy", "move", "durability")
    },
    ("create", Kind.PARTS): _not_for_parts(
        "create", "leave it out: the executor's path is opened to write, or begun where nothing is"
    ),
    ("copy", Kind.PARTS): _not_for_parts(
        "copy without a path, or of what is read along",
        "name what is copied, lftj.connect(path, copy=True, executor=…), or leave it out",
    ),
    ("move", Kind.PARTS): _not_for_parts(
        "move without a path, or with another one than the executor's",
        "name what is moved, lftj.connect(path, move=True, executor=lftj.SparkExecutor(spark, "
        "path=path)), or copy it to another path, copy=True",
    ),
    ("moving branches", Kind.PARTS): _not_for_parts(
        "branches, found {what}", "merge or drop them first, or copy one: copy=True moves nothing"
    ),
    ("move and copy", Kind.PATH): Refusal(
        "move=True is for a workspace at a path that is written to, without copy or read_only",
        "lftj.connect(path, move=True, executor=lftj.SparkExecutor(spark, path=path)) goes on over "
        "parts, lftj.connect(path, move=True) in one process",
        DeclarationError,
        "E160",
    ),
    ("read_only", Kind.PARTS): _not_for_parts(
        "read_only", "read the path without an executor: lftj.connect(path, read_only=True)"
    ),
    **{
        ("storage_options", kind): Refusal(
            "storage_options is for the address of an object store, found storage_options={what!r}",
            'give it such an address, lftj.connect("s3://…", read_only=True), or, to write, give '
            "both to the executor: lftj.SparkExecutor(spark, path=…, storage_options=…)",
            DeclarationError,
            "E160",
        )
        for kind in Kind
    },
    ("durability", Kind.PARTS): _not_for_parts(
        "durability", "leave it out: each commit is a file that is synced before it is true"
    ),
    ("prepare", Kind.PARTS): _not_yet(
        "prepare",
        "delete some rows and insert them again: the first commit makes what later ones find ready",
    ),
    ("write_delta", Kind.PARTS): _not_yet(
        "write_delta", "let Spark write it: ws[view].to_spark().write.format(…), or write_parquet"
    ),
    ("refresh", Kind.PARTS): _not_for_parts("refresh", _ONE_PROCESS),
    ("wait_for", Kind.PARTS): _not_for_parts("wait_for", _ONE_PROCESS),
    ("save_as", Kind.PARTS): _not_for_parts(
        "save_as", "save a copy of its path: lftj.connect(path, copy=True).save_as(elsewhere)"
    ),
    ("save_as", Kind.PATH): Refusal(
        "the workspace is durable already, at {what}",
        "a copy of it in memory can be saved: lftj.connect(path, copy=True)",
        DurableError,
        "E351",
    ),
    ("backup", Kind.PARTS): _not_for_parts(
        "backup", "copy the executor's path while nobody writes to it"
    ),
    ("backup", Kind.MEMORY): Refusal(
        "a workspace in memory has no files to copy",
        'give it some first: ws.save_as("path")',
        DurableError,
        "E351",
    ),
    **{
        (capability, Kind.PARTS): _not_yet(capability, _HELD_HERE)
        for capability in (
            "ack",
            "at",
            "ws.changes",
            "consumer",
            "consumers",
            "history",
            "log",
            "preview",
        )
    },
    **{
        (capability, Kind.PARTS): _not_yet(
            capability, "load what it is about into lftj.connect() and branch there"
        )
        for capability in ("branch", "branches", "diff", "merge")
    },
    ("keep", Kind.PARTS): _not_for_parts("keep", _HELD_HERE),
    ("path", Kind.PARTS): Refusal(
        "a distributed workspace has no path beside its executor's, found path={what!r}",
        "give it to the executor: lftj.SparkExecutor(spark, path=…); copy=True begins with what is "
        "at a path",
    ),
}
"""Refusals by capability (a method of a workspace, an option of `connect`, a kind of executor) and
kind of backend.
"""


def refused(capability: str, kind: Kind, what: object = None) -> LftjError:
    """The listed error. Raises KeyError for a capability that is not listed for this kind."""
    listed = REFUSALS[capability, kind]
    return listed.error(listed.problem.format(what=what), code=listed.code, hint=listed.hint)


def opened_to_read(path: object, hint: str) -> DurableError:
    """The error for a change to a workspace that was opened to read."""
    return DurableError(f"{path} is open with read_only=True", code="E356", hint=hint)
