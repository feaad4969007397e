"""Copies the checker (`adk_evidence_lsp/checker.py`) and all that it imports into a folder that any Python runs.

Prints what it copies of other projects, with their licences, as JSON.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import sys
from importlib import import_module
from pathlib import Path

from adk_evidence.api.history import SHIPPED
from adk_evidence.paths import config_file

# With what it imports only when somebody asks for it.
MODULES = ("adk_evidence_lsp.checker", "adk_evidence.checks.fixes", "adk_evidence.index.project")
OTHERS = ("packaging",)
MAIN = "from adk_evidence_lsp.checker import main\n\nmain()\n"


def copy(folder: Path) -> None:
    # What this script itself has imported is all part of it.
    for name in MODULES:
        import_module(name)
    for name, module in sys.modules.items():
        package = name.partition(".")[0]
        if package in ("adk_evidence", "adk_evidence_lsp", *OTHERS) and module.__file__:
            source = Path(module.__file__)
            target = folder.joinpath(*name.split("."))
            target = target / source.name if hasattr(module, "__path__") else target.with_suffix(source.suffix)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    (folder / "adk_evidence" / "_config").mkdir()
    shutil.copyfile(config_file(SHIPPED), folder / "adk_evidence" / "_config" / SHIPPED)
    (folder / "__main__.py").write_text(MAIN, encoding="utf-8")


def licences() -> list[dict[str, str]]:
    """A title, a licence expression and the licences' texts for each project."""
    found = []
    for name in OTHERS:
        distribution = importlib.metadata.distribution(name)
        files = [file for file in distribution.files or () if file.name.startswith("LICENSE")]
        text = "\n\n".join(Path(file.locate()).read_text(encoding="utf-8").strip() for file in sorted(files))
        licence = distribution.metadata["License-Expression"]
        found.append({"title": f"{name} {distribution.version}", "license": licence, "text": text})
    return found


if __name__ == "__main__":
    copy(Path(sys.argv[1]))
    print(json.dumps(licences()))
