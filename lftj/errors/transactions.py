# SPDX-License-Identifier: Apache-2.0
"""Errors of transactions and of what a workspace keeps: E3xx."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from lftj.errors.base import LftjError, Span


class KeyViolationError(LftjError, ValueError):
    """Two rows of a relation share a key, or a function has two values for one argument; `rows`
    holds those of the first few keys by value, `keys` the same key by key, `count` is how many
    keys there are, and `what` names the relation and what is wrong.
    """

    code = "E300"
    shown = 3
    """Keys in a message."""

    def __init__(
        self,
        message: str,
        *,
        what: str = "",
        keys: Sequence[Sequence[tuple[object, ...]]] = (),
        count: int = 0,
        **rest: object,
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.what, self.keys, self.count = what, [list(rows) for rows in keys], count
        self.rows = [row for rows in self.keys for row in rows]

    @staticmethod
    def of(
        what: str,
        keys: Sequence[Sequence[tuple[object, ...]]],
        count: int,
        hint: str | None,
        span: Span | None = None,
    ) -> KeyViolationError:
        """The error about `count` keys, of which `keys` are the first by value, each with its rows;
        `what` names the relation and what is wrong.
        """
        shown = [f"{rows[0]} and {rows[1]}" for rows in keys[: KeyViolationError.shown]]
        if count > len(shown):
            shown.append(f"and {count - len(shown)} more")
        return KeyViolationError(
            f"{what}: {'; '.join(shown)}",
            what=what,
            keys=keys,
            count=count,
            hint=hint,
            span=span,
        )


class MissingRowError(LftjError, KeyError):
    """A delete of an absent row (E310) or an insert of a present one (E311) under the policy
    `error`; `rows` holds the first of them by value, `count` is how many there are.
    """

    code = "E310"
    shown = 5
    """Rows in a message."""

    def __init__(
        self,
        message: str,
        *,
        relation: str = "",
        rows: Sequence[tuple[object, ...]] = (),
        count: int = 0,
        derived: bool = False,
        **rest: object,
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.relation, self.rows, self.count = relation, list(rows), count
        self.derived = derived
        """True where rules derive rows of the relation, and the rows here are those beside them."""

    @staticmethod
    def of(
        relation: str,
        rows: Sequence[tuple[object, ...]],
        count: int,
        code: str,
        derived: bool = False,
    ) -> MissingRowError:
        """The error about `count` rows of a relation, of which rules derive others where it is
        `derived`; `rows` are the first `shown` by value.
        """
        what, remedy = (
            ("already", 'existing="ignore"') if code == "E311" else ("not", 'missing="ignore"')
        )
        more = f" and {count - len(rows)} more" if count > len(rows) else ""
        message = (
            f"relation `{relation}`: {', '.join(map(str, rows))}{more} "
            f"{'is' if count == 1 else 'are'} {what} there"
        )
        hint = f"write {remedy} to pass over such rows"
        if derived:
            message += " beside the rows that rules derive"
            if code == "E310":
                hint += "; derived rows go when nothing derives them"
        return MissingRowError(
            message,
            relation=relation,
            rows=rows,
            count=count,
            derived=derived,
            code=code,
            hint=hint,
        )


class StillNeededError(LftjError, ValueError):
    """Declarations that a program has not any more, or otherwise, and that others need: `needed`
    says by relation what does.
    """

    code = "E327"
    shown = 3
    """Reasons in a message, of each relation."""

    def __init__(self, message: str, *, needed: Mapping[str, Sequence[str]] = {}, **rest: object):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.needed = {name: list(reasons) for name, reasons in needed.items()}

    @staticmethod
    def of(
        needed: Mapping[str, Sequence[str]], otherwise: Mapping[str, str], ways: Sequence[str]
    ) -> StillNeededError:
        """The error about relations with the reasons; those `otherwise` are declared with these
        differences, the others not at all. `ways`: what to write instead.
        """
        parts: list[str] = []
        for name, reasons in needed.items():
            how = "not declared any more"
            if name in otherwise:
                how = f"declared otherwise ({otherwise[name]})"
            shown = list(reasons[: StillNeededError.shown])
            if len(reasons) > len(shown):
                shown.append(f"and {len(reasons) - len(shown)} more")
            parts.append(f"relation `{name}` is {how}, but needed by {'; '.join(shown)}")
        return StillNeededError(". ".join(parts), needed=needed, hint="; or ".join(ways))

    @staticmethod
    @contextmanager
    def in_options() -> Generator[None]:
        """Have the remedy name options of a command where a command is what the user writes."""
        try:
            yield
        except StillNeededError as error:
            for argument, option in _OPTIONS.items():
                error.hint = (error.hint or "").replace(argument, option)
            raise


_OPTIONS = {
    "alter=True, drop=True": "--alter --drop",
    "alter=True": "--alter",
    "drop=True": "--drop",
}


class SchemaInUseError(LftjError, ValueError):
    """A change of a schema that `rules` forbid: they name a column that goes, or derive rows of the
    relation.
    """

    code = "E328"
    shown = 5
    """Rules in a message."""

    def __init__(self, message: str, *, rules: Sequence[str] = (), **rest: object):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.rules = list(rules)

    @staticmethod
    def of(change: str, rules: Sequence[str]) -> SchemaInUseError:
        """The error about a change in words, with the rules."""
        shown = list(rules[: SchemaInUseError.shown])
        if len(rules) > len(shown):
            shown.append(f"and {len(rules) - len(shown)} more")
        return SchemaInUseError(
            f"{change}: not while rules need it as it is:  {'   '.join(shown)}",
            rules=rules,
            hint="change these rules in the same transaction, before: remove them, alter, and add "
            "what is to be in their place",
        )


class TransactionError(LftjError, RuntimeError):
    """A transaction used after its end, inside another one, or on a view."""

    code = "E320"


class CopyError(LftjError, TypeError):
    """A workspace, snapshot, transaction or subscription that was to be copied or pickled."""

    code = "E343"


class GroupCycleError(LftjError, ValueError):
    """Groups whose sums or counts depend on themselves; `groups` holds them in their order: each is
    made of the next, and the last of the first.
    """

    code = "E302"

    def __init__(
        self, message: str, *, groups: Sequence[tuple[str, tuple[object, ...]]] = (), **rest: object
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.groups = list(groups)

    @staticmethod
    def of(groups: Sequence[tuple[str, tuple[object, ...]]]) -> GroupCycleError:
        """The error for these groups."""
        shown = [f"{name}({', '.join([*map(repr, key), '…'])})" for name, key in groups]
        most = GroupCycleError.shown
        named = " ← ".join([*shown[:most], *(["…"] if len(shown) > most else []), shown[0]])
        return GroupCycleError(
            f"a sum depends on itself: {named}",
            groups=groups,
            hint="delete a row that closes the cycle in the same transaction, or leave such groups "
            "out in the rules",
        )

    shown = 8
    """Groups in a message."""


class UserFunctionError(LftjError, RuntimeError):
    """A function of the user's or of a user aggregate raised; `__cause__` is what it raised. Or a
    function gave what is no result of its type.
    """

    code = "E223"


class OptionError(LftjError, TypeError):
    """A call with an option, a keyword argument, that it does not have (E170), or with an argument
    of another kind (E171).
    """

    code = "E170"


class ProofError(LftjError, ValueError):
    """A proof of which `step` (its number, from 0) does not follow (E360), or such a one that lftj
    found itself (E364).
    """

    code = "E360"

    def __init__(
        self,
        message: str,
        *,
        step: int | None = None,
        hint: str | None = None,
        code: str | None = None,
    ):
        super().__init__(message, hint=hint, code=code)
        self.step = step


class ExplanationError(LftjError, LookupError):
    """An explanation of a row that is not there (E361), of what is not one row (E362), or of a row
    that rests on itself (E363).
    """

    code = "E361"


class SqlError(LftjError, NotImplementedError):
    """A rule that cannot be said in SQL (E370)."""

    code = "E370"


class LimitError(LftjError, RuntimeError):
    """A limit of work, time, memory or open files was reached; everything was rolled back."""

    code = "E330"
    last: str | None = None
    """The row that a recursion found last, where the limit ended one."""


class DurableError(LftjError, RuntimeError):
    """Files of a workspace that cannot be opened, read or written (E350 to E357)."""

    code = "E350"


class CommandError(LftjError, ValueError):
    """A command of the shell or an argument of the command line that means nothing (E390)."""

    code = "E390"


class PastError(LftjError, LookupError):
    """A version that is not kept any more, or is not there yet (E371)."""

    code = "E371"


class ConsumerError(LftjError, RuntimeError):
    """A consumer that reads another view than it was made for, or acknowledges what it was not
    given (E372).
    """

    code = "E372"


class BranchError(LftjError, LookupError):
    """A branch that is not there, was dropped, or cannot be begun, merged or dropped (E380)."""

    code = "E380"


class MergeConflictError(LftjError, ValueError):
    """Rows, or keys of rows, that changed in both branches of a merge (E381): `conflicts` has them
    all, by relation; for one with a key they are values of the key.
    """

    code = "E381"
    shown = 3
    """Rows in a message, of each relation."""

    def __init__(
        self,
        message: str,
        *,
        conflicts: Mapping[str, Sequence[tuple[object, ...]]] | None = None,
        **rest: object,
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.conflicts = {name: list(rows) for name, rows in (conflicts or {}).items()}

    @classmethod
    def of(cls, conflicts: Mapping[str, Sequence[tuple[object, ...]]]) -> MergeConflictError:
        """The error for these conflicts."""
        parts = [
            f"{name}: {', '.join(map(repr, rows[: cls.shown]))}"
            + (f" and {len(rows) - cls.shown} more" if len(rows) > cls.shown else "")
            for name, rows in conflicts.items()
        ]
        return cls(
            f"both branches have changed {'; '.join(parts)}",
            conflicts=conflicts,
            hint="take the change back in one of the two, and merge again; "
            "error.conflicts lists all",
        )

    @classmethod
    def of_schemas(
        cls, alteration: object, reason: str, *, both: bool = False
    ) -> MergeConflictError:
        """The error for an alteration of one branch that cannot be made in the other one, or, if
        `both` have altered the same, not after that.
        """
        version = getattr(alteration, "version", 0)
        again = "make the same change in the branch that lacks it, and merge again"
        instead = (
            "alter this branch as the other one was, and bring the rows over: "
            "tx.sync(relation, ws.branch(name)[relation]) for each"
        )
        return cls(
            f"the change of a schema by version {version}, {alteration}, cannot be replayed: "
            f"{reason}",
            hint=instead if both else again,
        )

    @classmethod
    def of_dropped(cls, names: Sequence[str]) -> MergeConflictError:
        """The error for relations that one branch has dropped, and the other one changed."""
        return cls(
            f"one branch has dropped {', '.join(names)}, or declared it anew, and the other one "
            "has changed its rows",
            conflicts={name: [] for name in names},
            hint="delete these rows, or take the drop back, and merge again",
        )

    @classmethod
    def of_needed(cls, reason: str) -> MergeConflictError:
        """The error for what a branch has taken away and the other one needs."""
        return cls(
            f"what the branch has changed cannot be made here: {reason}",
            hint="change what needs it in the branch that does, and merge again",
        )

    @classmethod
    def of_programs(cls, names: Sequence[str]) -> MergeConflictError:
        """The error for programs that became different texts."""
        return cls(
            f"both branches have changed the program {', '.join(map(repr, names))}",
            hint="give both the same text, with ws.program(text, name=…), and merge again",
        )
