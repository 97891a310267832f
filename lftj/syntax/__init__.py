# SPDX-License-Identifier: Apache-2.0
"""Rule text and Python expressions: both become the one tree of `lftj.syntax.tree`, and the printer
turns it back into text.

`parser.parse` reads text, `builder` makes the same tree from Python operators, `printer` writes
text that parses back to an equal tree.
"""

from lftj.syntax import printer as printer  # gives the classes of `tree` their text
from lftj.syntax import tree
from lftj.syntax.attention import attending, look_now
from lftj.syntax.builder import Predicate
from lftj.syntax.conversion import to_term
from lftj.syntax.depth import below
from lftj.syntax.groups import aggregates_of_head, has_aggregates
from lftj.syntax.parser import parse
from lftj.syntax.user_function import UserFunction

__all__ = [
    "Predicate", "UserFunction", "aggregates_of_head", "attending", "below", "has_aggregates",
    "look_now", "parse", "to_term", "tree",
]  # fmt: skip
