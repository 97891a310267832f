# SPDX-License-Identifier: Apache-2.0
"""Reading: one committed version, held for as long as the reader likes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from lftj.api.backend import Version
from lftj.api.reading import Reading
from lftj.engine.calls.options import with_named_options
from lftj.engine.calls.uncopied import Uncopied
from lftj.engine.live.verify import Discrepancy
from lftj.engine.programs.handles import Relation, RuleHandle
from lftj.engine.programs.program_change import no_such_program
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import name_of
from lftj.syntax.builder import Predicate


@with_named_options
class Snapshot(Reading, Uncopied):
    """One version of a workspace. Any number of threads may read it while others commit; it never
    changes and needs no closing.

    The memory of the rows that only this version holds is reused once the snapshot and all results
    read from it are gone. Over parts its files stay for as long, while the workspace is open.
    """

    kind, instead = "snapshot", "hand on what it shows, snapshot[name], or snapshot[name].arrow()"

    def __init__(self, version: Version):
        """For the workspace: use `ws.snapshot()`."""
        self._version = version

    @property
    def version(self) -> int:
        """Number of the commit this snapshot shows; 0 before the first."""
        return self._version.number

    def __getitem__(self, relation: str | Predicate) -> Result:
        """All rows of a relation, base and derived. O(1) until the result is read. Raises
        UnknownNameError.
        """
        return self._version.rows(self._version.program.catalog.relation(name_of(relation)))

    @cached_property
    def relations(self) -> Mapping[str, Relation]:
        """The declared relations by name."""
        return {
            name: Relation(schema)
            for name, schema in self._version.program.catalog.relations.items()
        }

    @cached_property
    def rules(self) -> list[RuleHandle]:
        """The rules in the order they were added."""
        program = self._version.program
        return [RuleHandle(source, program.rule(source)) for source in program.sources]

    def program(self, name: str = "main") -> str:
        """The text of a program as it was in this version. Raises UnknownNameError (E115)."""
        programs = self._version.program.catalog.programs
        if name not in programs:
            raise no_such_program(name, programs)
        return programs[name].text

    def query(self, question: object, *values: object) -> Result:
        """The answers to an atom or a body, as text or expression, with values for its parameters;
        see `Workspace.query`. Parts read what a question needs from files where the version is not
        the last one.
        """
        return self._version.query(question, values)

    def _read(self) -> Version:
        return self._version

    def verify(self) -> list[Discrepancy]:
        """Recompute every view from the base rows and compare; see `Workspace.verify`. Raises
        DistributedError (E403) for a version in parts of which files are gone.
        """
        return self._version.verify()

    def __repr__(self) -> str:
        return f"<Snapshot of version {self.version}, {len(self.relations)} relations>"
