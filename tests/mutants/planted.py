"""The patches, as they are kept."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "patches"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """A planted bug. `tests`: paths that pytest takes; `environment`: variables of their run."""

    name: str
    kind: str
    tests: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    text: str

    @classmethod
    def of(cls, name: str, text: str) -> Mutant:
        """From the text of a patch. Raises ValueError where a line is missing."""
        head, _, _ = text.partition("\ndiff --git ")
        said = {
            word.strip(): rest.strip()
            for word, colon, rest in (line.partition(":") for line in head.splitlines())
            if colon
        }
        if missing := {"Kind", "Tests"} - said.keys():
            raise ValueError(f"{name}: the patch says no {', '.join(sorted(missing))}")
        pairs = [each.partition("=") for each in said.get("Environment", "").split()]
        environment = tuple((word, value) for word, _, value in pairs)
        return cls(name, said["Kind"], tuple(said["Tests"].split()), environment, text)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it changes."""
        lines = self.text.splitlines()
        return tuple(line[len("+++ b/") :] for line in lines if line.startswith("+++ b/"))

    @property
    def digest(self) -> str:
        """A hash of the patch."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    def apply(self, root: Path, *, check: bool = False) -> None:
        """Plant it below a folder; with `check` only see that it can be. Raises
        subprocess.CalledProcessError where the code there has become another one.
        """
        subprocess.run(
            ["git", "apply", *(["--check"] if check else [])],
            cwd=root,
            input=self.text.encode(),
            check=True,
            capture_output=True,
            env={
                "PATH": "/usr/bin:/bin:/usr/local/bin",
                "GIT_CEILING_DIRECTORIES": str(root.parent),
            },
        )


def mutants() -> list[Mutant]:
    """All of them, by name."""
    return [
        Mutant.of(path.stem, path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.patch"))
    ]
