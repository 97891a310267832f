"""What stands for live state of this process is neither copied nor pickled."""

from __future__ import annotations

from typing import ClassVar, NoReturn

from lftj.errors import CopyError


class Uncopied:
    """Base of such classes; `kind` is what messages call one, `instead` what to hand on."""

    kind: ClassVar[str]
    instead: ClassVar[str]

    def __reduce__(self) -> NoReturn:
        raise CopyError(f"a {self.kind} is not copied or pickled", hint=self.instead)
