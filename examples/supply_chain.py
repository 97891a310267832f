"""Pieces of each part that a product needs, through all levels, and the effect of a supplier who
stops delivering.
"""

from __future__ import annotations

import lftj

ws = lftj.connect()
uses = ws.relation("uses", {"whole": str, "part": str, "pieces": int}, key=("whole", "part"))
supplies = ws.relation("supplies", {"supplier": str, "part": str})
made_of = ws.view("made_of", {"whole": str, "part": str})
blocked = ws.view("blocked", {"whole": str})
# A part may come in by several ways: each is a row, with the pieces multiplied along it.
way = ws.view("way", {"whole": str, "part": str, "along": str, "pieces": int})
needs = ws.view("needs", {"whole": str, "part": str, "pieces": int})

whole, part, inner, along, n, m = lftj.vars("whole part inner along n m")
_ = lftj._
ws.add_rule(way(whole, part, part, n) <= uses(whole, part, n))
ws.add_rule(
    way(whole, inner, lftj.cat(along, "/", inner), n * m)
    <= way(whole, part, along, n) & uses(part, inner, m)
)
ws.add_rule(needs(whole, part, lftj.sum_(n)) <= way(whole, part, _, n))
ws.add_rule(made_of(whole, part) <= uses(whole, part, _))
ws.add_rule(made_of(whole, inner) <= made_of(whole, part) & uses(part, inner, _))
# Blocked: something in it is bought, not made, and nobody delivers it.
ws.add_rule(blocked(whole) <= made_of(whole, part) & ~uses(part, _, _) & ~supplies(_, part))

with ws.transaction() as tx:
    tx.insert(
        uses,
        [
            ("bicycle", "wheel", 2),
            ("bicycle", "frame", 1),
            ("wheel", "spoke", 32),
            ("wheel", "rim", 1),
            ("wheel", "screw", 4),
            ("frame", "screw", 6),
        ],
    )
    tx.insert(uses, [("cart", "wheel", 4), ("cart", "plank", 6)])
    tx.insert(
        supplies,
        [
            ("Anna", "spoke"),
            ("Anna", "rim"),
            ("Ben", "rim"),
            ("Ben", "frame"),
            ("Ben", "plank"),
            ("Ben", "screw"),
        ],
    )
print("a bicycle needs:", sorted(ws.query('needs("bicycle", part, n)')))
print("blocked at first:", sorted(ws["blocked"].fetchall()))

with ws.transaction() as tx:
    tx.delete_where(supplies, supplier="Anna")
print("without Anna:", sorted(row[:2] for row in tx.changes("blocked")))

with ws.transaction() as tx:
    tx.delete(uses, [("cart", "wheel", 4)])
    tx.insert(uses, [("cart", "runner", 2)])
    tx.insert(supplies, [("Ben", "runner")])
print("the cart becomes a sledge:", sorted(row[:2] for row in tx.changes("blocked")))
print("it needs:", sorted(ws.query('needs("cart", part, n)')))
