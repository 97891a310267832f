"""Products that contain a part, directly or inside other parts, and the effect of a supplier who
stops delivering.
"""

from __future__ import annotations

import lftj

ws = lftj.connect()
uses = ws.relation("uses", {"whole": str, "part": str, "pieces": int}, key=("whole", "part"))
supplies = ws.relation("supplies", {"supplier": str, "part": str})
made_of = ws.view("made_of", {"whole": str, "part": str})
blocked = ws.view("blocked", {"whole": str})

whole, part, inner = lftj.vars("whole part inner")
_ = lftj._
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
        ],
    )
    tx.insert(uses, [("cart", "wheel", 4), ("cart", "plank", 6)])
    tx.insert(
        supplies,
        [("Anna", "spoke"), ("Anna", "rim"), ("Ben", "rim"), ("Ben", "frame"), ("Ben", "plank")],
    )
print("blocked at first:", sorted(ws["blocked"].fetchall()))

with ws.transaction() as tx:
    tx.delete_where(supplies, supplier="Anna")
print("without Anna:", sorted(row[:2] for row in tx.changes("blocked")))

with ws.transaction() as tx:
    tx.delete(uses, [("cart", "wheel", 4)])
    tx.insert(uses, [("cart", "runner", 2)])
    tx.insert(supplies, [("Ben", "runner")])
print("the cart becomes a sledge:", sorted(row[:2] for row in tx.changes("blocked")))
