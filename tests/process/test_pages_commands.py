"""The commands of the pages, as people paste them: a shell runs each block in a fresh home, without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.corpora import CODE, Workplace, write_checkout, write_files, write_wheel
from tests.environments import write_environment

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="the pages' shell is that of POSIX")]

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", *(f"{page.parent.name}/README.md" for page in ROOT.glob("[a-z]*/README.md")))
# What commands print: a result, or a problem of a line.
OUTPUT = re.compile(r" 1  |[\w/]+\.py:\d+: ")
# Runs a command of the product, whose name comes first. Of some, only the words are checked: they never end, or need a
# service or files that the page leaves out.
DRIVER = """
import re, sys
import typer
from typer.core import TyperCommand
from adk_evidence.search import session
from adk_evidence.symbols import current
from adk_ingest import pipeline
from adk_ingest.targets import build, present
from tests.corpora import HashEmbedder
for module in (session, pipeline):
    module.make_dense = lambda *_, **__: HashEmbedder()
for module in (current, build, present):
    module.make_target_embedder = lambda *_, **__: HashEmbedder()
sys.argv = sys.argv[1:]
# Nobody is there to say yes.
sys.argv += ["--yes"] if "delete" in sys.argv else []
typer.confirm = lambda *_, **__: True
if re.search(r" (watch|eval)( |$)|--profile voyage", " ".join(sys.argv)):
    TyperCommand.invoke = lambda self, context: print("parsed")
if sys.argv[0] == "adk-evidence":
    from adk_evidence_cli.main import run
else:
    from adk_ingest.commands.cli import run
run()
"""
# Programs of others: the words alone, as far as this repository decides them.
OTHERS = """
import json, sys
from pathlib import Path
root, program, *words = sys.argv[1:]
match [program, *words]:
    case ["npm", "run", script, *_]:
        assert script in json.loads(Path(root, "package.json").read_text())["scripts"], script
    case ["pip", "install", folder]:
        assert Path(root, folder.partition("[")[0], "pyproject.toml").is_file()
    case ["python", "-m", module, *_]:
        assert Path(root, *module.split(".")).with_suffix(".py").is_file()
    case ["hf", "download", *_]:
        pass
    case _:
        sys.exit(f"no test knows {program}")
"""


def blocks() -> Iterator[Any]:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        shells = [block for language, block in found if not language and not OUTPUT.match(block)]
        yield from (pytest.param(block, id=f"{page}-{number}") for number, block in enumerate(shells, 1))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with an index in the usual place, and what the pages name."""
    user = tmp_path_factory.mktemp("made") / "user"
    place = Workplace(tmp_path_factory.mktemp("corpora"))
    (place.code / "README.md").unlink()  # no release has it
    place.ingest()
    data = user / ".local/share/adk-evidence"
    data.parent.mkdir(parents=True)
    shutil.copytree(place.home, data, symlinks=True)
    shutil.copytree(place.docs, user / "work/adk-docs")
    agent = "from google.adk.agents import LlmAgent\n\n" + "agent = LlmAgent(name='a')\n" * 30
    saved = place.ask("retry a failing tool").model_dump_json()
    write_files(
        user / "work/project",
        {
            "traceback.txt": "Traceback (most recent call last):\n  File 'a.py', line 1\nValueError: tool\n",
            "agent.py": agent,
            "my_agent/agent.py": agent,
            "../../.claude.json": "{}",
            "docs/guide.md": "# Guide\n\nText.\n",
            "docs/saved.evidence.json": saved,
        },
    )
    write_environment(user / "work/project/.venv", "2.13.0", CODE)
    write_checkout(user / "projects/shop", {"tools.py": "def refund_order(token):\n    return token\n"})
    for version in ("1.18.0", "1.31.0", "2.0.0", "2.1.0", "2.13.0"):
        write_wheel(user / "wheels", version)
    return user


@pytest.mark.parametrize("block", [*blocks()])
def test_a_block_of_commands_does_what_it_says(block: str, made: Path, tmp_path: Path) -> None:
    user = tmp_path / "user"
    shutil.copytree(made, user, symlinks=True)
    for name, script in (("driver", DRIVER), ("others", OTHERS)):
        (tmp_path / f"{name}.py").write_text(script)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("adk-evidence", "adk-ingest", "npm", "pip", "python", "hf"):
        script = f"{tmp_path}/driver.py" if name.startswith("adk-") else f"{tmp_path}/others.py {ROOT}"
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {script} {name} "$@"\n')
        (programs / name).chmod(0o755)
    environment = {
        "HOME": str(user),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": str(user / "wheels"),
        "GIT_ALLOW_PROTOCOL": "none",
        "ADK_EVIDENCE_DOCS": str(user / "work/adk-docs"),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=user / "work/project",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
