"""Read access: groups inside groups, rights that folders inherit, and denials that win."""

from __future__ import annotations

import lftj

RULES = """
.decl member(who: symbol, of: symbol)          // a person in a group, or a group in a group
.decl inside(item: symbol, folder: symbol)
.decl allow(who: symbol, item: symbol)
.decl deny(who: symbol, item: symbol)

.decl acts_as(who: symbol, as: symbol)
acts_as(x, x) :- member(x, _).
acts_as(x, z) :- acts_as(x, y), member(y, z).

.decl below(item: symbol, folder: symbol)
below(i, i) :- inside(i, _).
below(i, g) :- below(i, f), inside(f, g).

.decl may_read(who: symbol, item: symbol)
may_read(x, i) :-
    acts_as(x, a), below(i, f), allow(a, f),
    !( acts_as(x, b), below(i, g), deny(b, g) ).

.decl readers(item: symbol, n: number)
readers(i, n) :- below(i, i), n = count : { may_read(_, i) }.
"""

ws = lftj.connect()
with ws.transaction() as tx:
    tx.add_rules(RULES)
    tx.insert(
        "member", [("ada", "admins"), ("bob", "staff"), ("cem", "guests"), ("admins", "staff")]
    )
    tx.insert(
        "inside",
        [("plan.txt", "projects"), ("pay.txt", "hr"), ("hr", "company"), ("projects", "company")],
    )
    tx.insert("allow", [("staff", "company"), ("guests", "plan.txt")])
    tx.insert("deny", [("staff", "hr")])
print("plan.txt:", sorted(row[0] for row in ws["may_read"] if row[1] == "plan.txt"))
print("pay.txt:", sorted(row[0] for row in ws["may_read"] if row[1] == "pay.txt"))

with ws.transaction() as tx:
    tx.delete("deny", [("staff", "hr")])
for who, item, diff, _ in sorted(tx.changes("may_read")):
    print("+" if diff > 0 else "-", who, item)
print("readers:", sorted(ws["readers"]))
