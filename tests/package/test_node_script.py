"""`.ci/node.mjs` in a small project, with a script in place of npm: no network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="the script needs Node, which is not on PATH")

PACKAGES: dict[str, Any] = {
    "": {"name": "project"},
    "node_modules/one": {"version": "1.0.0", "integrity": "sha512-1"},
    "node_modules/elsewhere": {"version": "1.0.0", "integrity": "sha512-2", "optional": True},
}
# Does what npm does: installs, and says at the end what. A test can make it fail.
FAKE_NPM = """\
import fs from "node:fs";
fs.appendFileSync("calls", process.argv.slice(2).join(" ") + "\\n");
if (fs.existsSync("complaint")) {
  console.error(fs.readFileSync("complaint", "utf8"));
  process.exit(1);
}
const { packages } = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
const installed = Object.entries(packages).filter(([where, { optional }]) => where !== "" && !optional);
fs.mkdirSync("node_modules", { recursive: true });
fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: Object.fromEntries(installed) }));
"""


@dataclass
class Project:
    root: Path

    def lock(self, packages: dict[str, Any]) -> None:
        (self.root / "package-lock.json").write_text(json.dumps({"packages": packages}))

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(NODE), ".ci/node.mjs", *args],
            cwd=self.root,
            env={**os.environ, "npm_execpath": str(self.root / "npm-cli.mjs")},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    @property
    def installations(self) -> int:
        calls = self.root / "calls"
        return len(calls.read_text().splitlines()) if calls.exists() else 0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "a project"
    (root / ".ci").mkdir(parents=True)
    for script in ("setup.mjs", "node.mjs"):
        shutil.copy(ROOT / ".ci" / script, root / ".ci")
    (root / "npm-cli.mjs").write_text(FAKE_NPM)
    (root / "show.mjs").write_text('console.log(process.argv.slice(2).join("|")); process.exit(7);')
    one = Project(root)
    one.lock(PACKAGES)
    return one


def test_the_first_run_installs_on_stderr_and_the_second_does_nothing(project: Project) -> None:
    first, second = project.run("show.mjs", "a b", "--x"), project.run("show.mjs", "a b", "--x")
    assert "node_modules is ready" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout == "a b|--x\n"
    assert first.returncode == second.returncode == 7
    assert project.installations == 1


def test_a_failure_is_told_in_a_sentence_and_tried_again(project: Project) -> None:
    (project.root / "complaint").write_text(
        "npm error Missing: one@ from lock file\nnpm error Usage:\nnpm error npm ci"
    )
    failed = project.run("show.mjs")
    assert failed.returncode == 1
    assert "npm could not install the packages of package-lock.json." in failed.stderr
    assert failed.stderr.endswith("Missing: one@ from lock file\n")
    (project.root / "complaint").unlink()
    assert project.run("show.mjs").returncode == 7


def test_the_lock_file_names_no_registry_and_every_platform() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for where, package in packages.items():
        assert "resolved" not in package, where
        missing = set(package.get("optionalDependencies", {})) - {
            name.rpartition("node_modules/")[2] for name in packages
        }
        assert not missing, f"{where} without {missing}: npm ci refuses the file"
