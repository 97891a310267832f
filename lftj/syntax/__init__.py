"""Rule text and Python expressions: both become the one tree of `lftj.syntax.tree`, and the printer
turns it back into text.

`parser.parse` reads text, `builder` makes the same tree from Python operators, `printer` writes
text that parses back to an equal tree.
"""

from lftj.syntax import printer as printer  # gives the classes of `tree` their text
