"""Small files of JSON: every flipped bit that changes what they say is told."""

from __future__ import annotations

import json

import pytest

from lftj.distributed.files.manifest import Manifest
from lftj.errors import DistributedError
from lftj.storage.durable.sealed import sealed, unsealed

CONTENT = {"version": 3, "text": 'a "sum": 1}', "log": {"e": [1, 2]}, "sum": 7}


def test_content_comes_back() -> None:
    assert unsealed(sealed(CONTENT)) == CONTENT
    assert unsealed(sealed({"a": 1})) == {"a": 1}
    assert json.loads(sealed({"a": 1}))["a"] == 1
    assert unsealed(json.dumps({"a": 1}).encode()) == {"a": 1}  # of before there were checksums


def test_a_flipped_bit_is_no_other_content() -> None:
    written = sealed(CONTENT)
    for place in range(len(written)):
        for bit in range(8):
            content = bytearray(written)
            content[place] ^= 1 << bit
            try:
                found = unsealed(bytes(content))
            except ValueError:
                continue
            assert {name: found[name] for name in CONTENT if name != "sum"} == {
                k: v for k, v in CONTENT.items() if k != "sum"
            }


def test_a_manifest_that_says_something_else_is_damaged(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("path")
    Manifest(3, version=17, token="abc").store(path)
    found = Manifest.load(path)
    assert found is not None
    assert found.version == 17
    file = path / "manifest-0.json"
    file.write_bytes(file.read_bytes().replace(b"17", b"16"))
    with pytest.raises(DistributedError, match="damaged") as caught:
        Manifest.load(path)
    assert caught.value.code == "E403"
