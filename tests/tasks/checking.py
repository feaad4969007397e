"""The tasks, and whether a solution passes the check of its task."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
SOLUTION = "solution"
_SECONDS = 120


@dataclass(frozen=True)
class Task:
    """A folder with a task."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def text(self) -> str:
        return (self.folder / "task.md").read_text(encoding="utf-8")

    def failure(self, solution: Path) -> str | None:
        """Why a solution fails the check; None where it passes."""
        try:
            checker = importlib.import_module(f"tests.tasks.{self.name}.check")
            asyncio.run(asyncio.wait_for(checker.check(_imported(solution)), _SECONDS))
        # A solution may raise anything, and may end the process.
        except (Exception, SystemExit) as exc:
            return f"{type(exc).__name__}: {exc}"
        finally:
            sys.modules.pop(SOLUTION, None)
        return None


def tasks() -> dict[str, Task]:
    """All tasks by their names, in alphabetical order."""
    return {path.parent.name: Task(path.parent) for path in sorted(HERE.glob("*/task.md"))}


def _imported(path: Path) -> ModuleType:
    # Under the name that it has for the agent, so that it can be imported by name, too.
    spec = importlib.util.spec_from_file_location(SOLUTION, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[SOLUTION] = module
    spec.loader.exec_module(module)
    return module
