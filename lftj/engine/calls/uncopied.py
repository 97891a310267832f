# SPDX-License-Identifier: Apache-2.0
"""Base of handles on live state of this process, which can be neither copied nor pickled."""

from __future__ import annotations

from typing import NoReturn

from lftj.errors import CopyError


class Uncopied:
    """Base of such classes; `kind` is what messages call one, `instead` what to hand on."""

    kind: str
    instead: str

    def __reduce__(self) -> NoReturn:
        raise CopyError(f"a {self.kind} is not copied or pickled", hint=self.instead)
