# SPDX-License-Identifier: Apache-2.0
"""Small files of JSON that tell by a checksum when they are not what was written."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

_SEAL = re.compile(rb', "sum": (\d+)}$')


def sealed(content: Mapping[str, Any]) -> bytes:
    """Content, of some keys, as JSON with its checksum at the end, as one more key `sum`."""
    body = json.dumps(content).encode()
    return body[:-1] + f', "sum": {zlib.crc32(body)}}}'.encode()


def unsealed(found: bytes) -> dict[str, Any]:
    """The content again. Raises ValueError where it is another one; what has no checksum is taken
    as it is.
    """
    seal = _SEAL.search(found)
    if seal is not None:
        found = found[: seal.start()] + b"}"
        if zlib.crc32(found) != int(seal[1]):
            raise ValueError("it is not what was written")
    content = json.loads(found)
    if not isinstance(content, dict):
        raise ValueError("it is not what was written")
    return content
