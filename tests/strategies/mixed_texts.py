# SPDX-License-Identifier: Apache-2.0
"""Programs as text that mix what the language has: optional columns, left joins, aggregates in
heads and bodies, bounds, long bodies, cycles, sums through cycles. Not all of them are programs:
what is refused is passed over.
"""

from __future__ import annotations

from random import Random

BASES = {
    "a": ("number?", "number"),
    "b": ("number", "number?"),
    "c": ("number", "symbol?"),
    "e": ("number", "number"),
    "w": ("number", "number", "number"),
    "n": ("number",),
    "s": ("symbol", "number?"),
    "f": ("number", "float?"),
}
"""Base relations with the types of their columns."""
_CALLS = (
    *("count()", "count({x})", "sum({x})", "min({x})", "max({x})", "mean({x})", "median({x})"),
    *("count_distinct({x})", "quantile_disc({x}, 0.5)", "first({x}, {y})", "last({x}, {y})"),
    *("arg_max({x}, {y})", "arg_min({x}, {y})", "stddev({x})", "mode({x})"),
)
_FLOATS = ("mean", "stddev", "median")
_ORDERED = ("<", "<=", ">", ">=")
_BIG = 2**62

Row = tuple[object, ...]
Types = dict[str, tuple[str, ...]]
Step = dict[str, dict[str, list[Row]]]


def _plain(type: str) -> str:
    return type.rstrip("?")


def _declared(name: str, types: tuple[str, ...]) -> str:
    columns = ", ".join(f"c{place}: {type}" for place, type in enumerate(types))
    return f".decl {name}({columns})"


def value(random: Random, type: str) -> object:
    """A value of few, or NULL."""
    if type.endswith("?") and random.random() < 0.25:
        return None
    if _plain(type) == "symbol":
        return random.choice(["", "a", "b", "ab", "c"])
    if _plain(type) == "float":
        return random.choice([-1.5, 0.0, 0.25, 2.0, 3.5, 1e15])
    return random.choice([*range(-3, 6)] * 3 + [7, 100, -_BIG, _BIG])


class _Body:
    """A body that grows; `types` of the variables that it has so far."""

    def __init__(self, random: Random, relations: Types):
        self._random, self._relations = random, relations
        self.types: dict[str, str] = {}
        self.literals: list[str] = []
        self._number = 0

    def fresh(self, type: str) -> str:
        self._number += 1
        self.types[f"x{self._number}"] = type
        return f"x{self._number}"

    def of(self, *types: str) -> list[str]:
        """The variables of some types, NULL or not."""
        return [name for name, type in self.types.items() if _plain(type) in types]

    def _term(self, type: str) -> str:
        known, chance = self.of(_plain(type)), self._random.random()
        if known and chance < 0.5:
            return self._random.choice(known)
        if chance < 0.58:
            found = value(self._random, _plain(type))
            return f'"{found}"' if isinstance(found, str) else f"({found!r})"
        return "_" if chance < 0.66 else self.fresh(type)

    def atom(self) -> None:
        """An atom of any relation."""
        name = self._random.choice(list(self._relations))
        args = ", ".join(map(self._term, self._relations[name]))
        self.literals.append(f"{name}({args})")

    def expression(self) -> str:
        """A term of numbers, where there are some."""
        random, numbers = self._random, self.of("number")
        one, other, small = random.choice(numbers), random.choice(numbers), random.randint(0, 3)
        forms = (f"{one} + {small}", f"{one} - {other}", f"coalesce({one}, {small})")
        more = (f"if({one} > {small}, {other}, {small})", f"max({one}, {other})")
        return random.choice([one] * 5 + [*forms, *more])

    def literal(self) -> None:
        """Anything but a plain atom, if there are variables."""
        ways = [self._negated, self._left_join, self._null]
        if self.of("number"):
            ways += [self._comparison, self._aggregate, self._aggregate]
        if self.types:
            self._random.choice(ways)()

    def _comparison(self) -> None:
        operator = self._random.choice([*_ORDERED, "!=", "="])
        self.literals.append(f"{self.expression()} {operator} {self.expression()}")

    def _null(self) -> None:
        sign = self._random.choice(["", "!"])
        self.literals.append(f"{sign}is_null({self._random.choice(list(self.types))})")

    def _known_or(self, type: str, chance: float) -> str | None:
        known = self.of(_plain(type))
        return self._random.choice(known) if known and self._random.random() < chance else None

    def _negated(self) -> None:
        name = self._random.choice(list(self._relations))
        args = [self._known_or(type, 0.7) or "_" for type in self._relations[name]]
        self.literals.append(f"!{name}({', '.join(args)})")

    def _left_join(self) -> None:
        name = self._random.choice(list(self._relations))
        types = self._relations[name]
        known = [self._known_or(type, 0.6) for type in types]
        new = [self.fresh(f"{_plain(t)}?") for t, arg in zip(types, known, strict=True) if not arg]
        waiting = iter(new)
        args = ", ".join(arg or next(waiting) for arg in known)
        test = f", {new[0]} > 1" if new and _plain(self.types[new[0]]) == "number" else ""
        self.literals.append(f"({name}({args}){test})?" if new else f"{name}({args})")

    def _aggregate(self) -> None:
        random, name = self._random, self._random.choice(list(self._relations))
        outer, own, args = self.of("number"), list[str](), list[str]()
        for type in self._relations[name]:
            arg = self._known_or(type, 0.4)
            if arg is None:
                self._number += 1
                arg = f"u{self._number}"
                own += [arg] * (_plain(type) == "number")
            args.append(arg)
        body, result = f"{name}({', '.join(args)})", f"r{self._number}"
        if own and random.random() < 0.8:
            body += f", {random.choice(own)} {random.choice(_ORDERED)} {random.choice(outer)}"
        if own and random.random() < 0.25:
            body += f", {random.choice(own)} > 1"
        if not own or random.random() < 0.4:
            if random.random() < 0.4:
                self.literals.append(f"count : {{ {body} }} {random.choice(_ORDERED)} 1")
                return
            made, type = f"{result} = count : {{ {body} }}", "number"
        elif len(own) > 1 and random.random() < 0.5:
            call = random.choice(["first", "last", "arg_max", "arg_min"])
            made, type = f"({result} = {call}({own[0]}, {own[1]}) : {{ {body} }})?", "number?"
        else:
            tests = ", ".join(f"!is_null({each})" for each in own)
            call = random.choice(["sum", "min", "max"])
            made, type = f"{result} = {call} {own[0]} : {{ {body}, {tests} }}", "number"
        self.literals.append(made)
        self.types[result] = type


def _view(random: Random, name: str, relations: Types) -> tuple[tuple[str, ...], list[str]]:
    """A view of one rule: the types of its columns, and the rule."""
    body, long = _Body(random, relations), random.random() < 0.2
    for _ in range(random.randint(5, 10) if long else random.randint(1, 3)):
        body.atom()
    for _ in range(random.randint(0, 1 if long else 3)):
        body.literal()
    columns: list[tuple[str, str]] = []
    for variable in random.choices([*body.types], k=2 * bool(body.types)):
        columns.append((variable, f"{_plain(body.types[variable])}?"))
    numbers = body.of("number")
    if random.random() < 0.5 or not columns:
        for call in random.choices(_CALLS if numbers else ("count()",), k=random.randint(1, 2)):
            x, y = (random.choice(numbers), random.choice(numbers)) if numbers else ("", "")
            kind = "float?" if call.startswith(_FLOATS) else "number?"
            columns.append((call.format(x=x, y=y), kind))
    terms, types = zip(*columns, strict=True)
    return types, [f"{name}({', '.join(terms)}) :- {', '.join(body.literals)}."]


def _cycle(random: Random, name: str, relations: Types) -> tuple[tuple[str, ...], list[str]]:
    """A closure, or a cycle of sums whose groups form none."""
    if random.random() < 0.4:
        base = f"{name}(x, y, sum(m)) :- w(x, y, m)."
        step = f"{name}(x, z, sum(k * m)) :- {name}(x, y, k), w(y, z, m), y < z."
        return ("number",) * 3, [base, step]
    read = random.choice(["a", "b", "e", "w"])
    rest = ", _" * (len(relations[read]) - 2)
    steps = (
        f"{name}(x, z) :- {name}(x, y), {read}(y, z{rest}).",
        f"{name}(x, z) :- {name}(x, y), {name}(y, z).",
        f"{name}(x, z) :- {read}(x, y{rest}), {name}(y, z), !n(z).",
        f"{name}(y, x) :- {name}(x, y), n(x).",
    )
    return ("number?",) * 2, [f"{name}(x, y) :- {read}(x, y{rest}).", random.choice(steps)]


def program(random: Random) -> str:
    """One to four views, each over the base relations and the views before it."""
    relations: Types = dict(BASES)
    text = [_declared(name, types) for name, types in BASES.items()]
    for number in range(random.randint(1, 4)):
        make = _view if random.random() < 0.75 else _cycle
        types, rules = make(random, f"v{number}", relations)
        relations[f"v{number}"] = types
        text += [_declared(f"v{number}", types), *rules]
    return "\n".join(text)


def history(random: Random) -> list[Step]:
    """Transactions over the base relations: many rows first, then few come and go."""
    held: dict[str, set[Row]] = {name: set() for name in BASES}
    steps: list[Step] = []
    for number in range(random.randint(3, 8)):
        step: Step = {"insert": {}, "delete": {}}
        for name, types in BASES.items():
            if random.random() < (0.35 if number else 0.9):
                count = random.randint(1, 3 if number else 6)
                rows = {tuple(value(random, type) for type in types) for _ in range(count)}
                step["insert"][name] = sorted(rows, key=repr)
            if held[name] and random.random() < 0.35:
                some = sorted(held[name], key=repr)
                step["delete"][name] = random.sample(some, min(len(some), random.randint(1, 3)))
        for name in BASES:
            held[name] -= {*step["delete"].get(name, ())}
            held[name] |= {*step["insert"].get(name, ())}
        steps.append(step)
    return steps
