"""Build step of the package: makes what else takes long at each start, or once for each machine.

It goes into wheels, and beside the sources of an editable installation.

- The library of kernels (`lftj.scantree.jit.library`). It is for one system and processor, so a
  wheel that holds one says so in its name. Where none can be built, and with `LFTJ_PURE=1`, the
  wheel is for all systems, and kernels are compiled when a program first needs them.
- The tables of the parser (`lftj.syntax.parse_tables`).

And it writes what an index of packages shows: the README, whose links lead to the pages at the
project's address, and that address, where `pyproject.toml` has one.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from runpy import run_path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_LIBRARIES = "lftj/scantree/jit/machine_code"
_TABLES = "lftj/syntax/parse_tables.json"
_TAG = "py3-none-manylinux_2_17_x86_64"


class MachineProductsHook(BuildHookInterface[Any]):
    """Makes them, but for a library that was built on this machine before."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build for a wheel (`version` is "standard") or an editable installation."""
        if self.target_name != "wheel":
            return
        included: dict[str, str] = {}
        with self._said("no tables of the parser"):
            tables = run_path(str(Path(self.root, "lftj/syntax/parse_tables.py")))["tables"]
            _put(Path(self.root, _TABLES), tables().encode())
            included[_TABLES] = _TABLES
        library = None
        if os.environ.get("LFTJ_PURE", "0") in ("", "0"):
            with self._said("no library of kernels"):
                library = self._library()
        if library is not None:
            included[library] = library
        if version != "editable":
            build_data["force_include"].update(
                {str(Path(self.root, path)): inside for path, inside in included.items()}
            )
            if library is not None:
                build_data["pure_python"], build_data["tag"] = False, _TAG

    @contextmanager
    def _said(self, lacking: str) -> Iterator[None]:
        """Go on without what cannot be made, and say so: the package works all the same."""
        sys.path.insert(0, self.root)
        try:
            yield
        except Exception as reason:
            self.app.display_warning(f"{lacking}: {reason}")
        finally:
            sys.path.remove(self.root)

    def _library(self) -> str | None:
        """The place of the library among the sources."""
        from lftj.engine.machine_code.kernel_library import build_library

        self.app.display_info("compiling kernels: 50 seconds of a processor, once for a machine")
        found = build_library()
        if found is None:
            return None
        kept = Path(self.root, _LIBRARIES, found.name)
        kept.parent.mkdir(exist_ok=True)
        _put(kept, found.read_bytes())
        for other in kept.parent.glob("kernels-*.so"):
            if other != kept:
                other.unlink()
        return f"{_LIBRARIES}/{found.name}"


class DescriptionHook(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set both from README.md and the setting `address`."""
        address: str = self.config["address"].rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": with_absolute_links(text, address),
        }
        pages = {"Documentation": "docs/index.md", "Changelog": "CHANGELOG.md", "Source": ""}
        metadata["urls"] = (
            {name: f"{address}/{page}".rstrip("/") for name, page in pages.items()}
            if address
            else {}
        )


def with_absolute_links(text: str, address: str) -> str:
    """Markdown whose relative links begin with an address; without one they are their texts."""
    link = r"\[([^\]]+)\]\((?!https?://|#)([^)]+)\)"
    return re.sub(link, rf"[\1]({address}/\2)" if address else r"\1", text)


def _put(path: Path, content: bytes) -> None:
    """Write a file aside and give it its name: processes may be reading the one before."""
    if not path.exists() or path.read_bytes() != content:
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_bytes(content)
        aside.replace(path)
