"""`.ci/venv.mjs` in a small project, with shell scripts in place of Python and pip: no network."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(NODE is None, reason="the set-up script needs Node, which is not on PATH"),
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins for Python are shell scripts"),
]

# A command that ends in order when it is asked to.
LINGER = """\
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
print("up", flush=True)
signal.sigwait([signal.SIGTERM])
print("tidied")
raise SystemExit(9)
"""
# Answers what the script asks of a Python: version, environment, pip. A test can put `pip-hook` in the way.
FAKE_PYTHON = """\
#!/bin/sh
here='{project}'
echo "$@" >> "$here/calls"
case "$*" in
  "-E -c "*) echo "{version}|1|$0" ;;
  "-m venv "*)
    for folder; do :; done
    rm -rf "$folder"; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python"
    printf '#!/bin/sh\\nfor a in "$@"; do printf "[%%s]" "$a"; done\\n' > "$folder/bin/show"
    printf '#!/bin/sh\\nexec {python} {linger}' > "$folder/bin/linger"
    chmod +x "$folder/bin/"* ;;
  "-m pip "*) if [ -f "$here/pip-hook" ]; then . "$here/pip-hook"; fi ;;
esac
"""


@dataclass
class Project:
    root: Path
    bin: Path

    def add_python(self, name: str = "python3.12", version: str = "3.12.4") -> Path:
        path = self.bin / name
        linger = self.bin / "linger.py"
        linger.write_text(LINGER)
        path.write_text(
            FAKE_PYTHON.format(
                project=self.root,
                version=version,
                python=sys.executable,
                linger=linger,
            )
        )
        path.chmod(0o755)
        return path

    def start(self, *args: str, **environment: str) -> subprocess.Popen[str]:
        # /bin and /usr/bin would bring the machine's own Python along.
        variables = {"PATH": str(self.bin), "HOME": str(self.root), **environment}
        return subprocess.Popen(
            [str(NODE), str(self.root / ".ci/venv.mjs"), *args],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*args, **environment)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def calls(self, start: str) -> list[str]:
        log = self.root / "calls"
        lines = log.read_text().splitlines() if log.exists() else []
        return [line for line in lines if line.startswith(start)]

    def fifo(self, name: str) -> Path:
        path = self.root / name
        os.mkfifo(path)
        return path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "a project"
    (root / ".ci").mkdir(parents=True)
    for script in ("setup.mjs", "venv.mjs"):
        shutil.copy(ROOT / ".ci" / script, root / ".ci")
    (root / "pyproject.toml").write_text("[project]\n")
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("rm", "mkdir", "cp", "chmod"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    return Project(root, tools)


def test_arguments_reach_the_command_unchanged(project: Project) -> None:
    project.add_python()
    done = project.run("show", "a b", "$HOME", "it's", "", "--", "--dev", "x\ny")
    assert done.stdout == "[a b][$HOME][it's][][--][--dev][x\ny]"
    assert done.returncode == 0


def test_the_first_run_speaks_on_stderr_and_the_second_is_silent(project: Project) -> None:
    project.add_python()
    first, second = project.run("show", "x"), project.run("show", "x")
    assert "making .venv with Python 3.12.4" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout == "[x]"
    assert len(project.calls("-m pip")) == 1


def test_a_signal_reaches_the_command_which_may_tidy_up(project: Project) -> None:
    project.add_python()
    process = project.start("linger")
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert out == "tidied\n"
    assert process.returncode == 9


def test_without_python_one_sentence_says_what_to_do(project: Project) -> None:
    done = project.run("show")
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed and none was found" in done.stderr
    assert "ADK_EVIDENCE_PYTHON" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_old_python_is_named(project: Project) -> None:
    old = project.add_python("python3", version="3.10.13")
    done = project.run("show")
    assert done.returncode == 1
    assert f"{old} is 3.10.13" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_chosen_python_is_used_and_no_other(project: Project) -> None:
    project.add_python()
    chosen = project.add_python("mine", version="3.13.1")
    assert "Python 3.13.1" in project.run("show", ADK_EVIDENCE_PYTHON=str(chosen)).stderr
    assert project.run("show").stderr == ""
    wrong = project.run("show", ADK_EVIDENCE_PYTHON="/nowhere/python")
    assert wrong.returncode == 1
    assert "/nowhere/python" in wrong.stderr


def test_what_pip_said_last_is_shown(project: Project) -> None:
    project.add_python()
    (project.root / "pip-hook").write_text("echo 'ERROR: no matching distribution' >&2; exit 1\n")
    done = project.run("show")
    assert done.returncode == 1
    assert done.stderr.endswith("could not install the requirements.\n    ERROR: no matching distribution\n")


def test_a_failed_update_leaves_the_old_environment_and_tries_again(project: Project) -> None:
    project.add_python()
    project.run("show")
    (project.root / "pyproject.toml").write_text("[project]\nname = 'changed'\n")
    (project.root / "pip-hook").write_text("exit 1\n")
    assert project.run("show").returncode == 1
    (project.root / "pip-hook").unlink()
    assert project.run("show").returncode == 0
    assert len(project.calls("-m venv")) == 1
    assert len(project.calls("-m pip")) == 3


def test_runs_at_the_same_time_install_once(project: Project) -> None:
    project.add_python()
    gate, entered = project.fifo("gate"), project.fifo("entered")
    (project.root / "pip-hook").write_text('echo > "$here/entered"; read line < "$here/gate"\n')
    first = project.start("show", "1")
    entered.read_text()
    second = project.start("show", "2")
    assert second.stderr is not None
    assert "waiting for another run" in second.stderr.readline()
    gate.write_text("\n")
    assert first.communicate(timeout=60)[0] == "[1]"
    assert second.communicate(timeout=60)[0] == "[2]"
    assert len(project.calls("-m pip")) == 1
    assert not list(project.root.glob(".venv.lock*"))


def test_the_lock_of_a_dead_run_is_taken_over(project: Project) -> None:
    project.add_python()
    lock = project.root / ".venv.lock"
    lock.mkdir()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (lock / "pid").write_text(str(dead.pid))
    os.utime(lock, (0, 0))
    assert project.run("show", "x").stdout == "[x]"
    assert not lock.exists()
