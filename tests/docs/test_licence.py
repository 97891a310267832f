# SPDX-License-Identifier: Apache-2.0
"""Each file that is installed names its licence, which is that of the distribution."""

from __future__ import annotations

import tomllib

from tests.docs.spdx import LINE, ROOT, lacking


def test_every_installed_file_names_its_licence() -> None:
    assert [str(path.relative_to(ROOT)) for path in lacking()] == [], (
        "`python -m tests.docs.spdx` writes the lines"
    )


def test_it_is_the_licence_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert LINE.removeprefix("# SPDX-License-Identifier: ").strip() == project["license"]
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")[:200]
