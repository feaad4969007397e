"""The git command, run without questions, without hooks and within a time limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from adk_evidence.errors import SourceError

# Variables that would point git at another repository than the given folder, as inside a hook.
_LOCAL_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)
# A checkout's own settings must not start programs, and no helper may open a window for a password.
_SAFE_OPTIONS = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "credential.helper=",
)


class GitError(SourceError):
    """A git command failed; the message ends with what git said."""


def run_git(args: Sequence[str], *, cwd: Path | None = None, timeout: float = 30) -> bytes:
    """Run git and return what it wrote to its standard output.

    Args:
        args: Arguments after `git`; the first is the subcommand.
        cwd: The folder to run in.
        timeout: Seconds, after which git and its children are ended.

    Raises:
        GitError: git is missing, failed or took too long.
    """
    command = ["git", "--no-optional-locks", *_SAFE_OPTIONS, *args]
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as exc:
        if cwd is not None and not cwd.is_dir():
            raise GitError(f"The folder {cwd} does not exist.") from exc
        raise GitError("git is not installed.", "Install git and make sure that it is on PATH.") from exc
    except OSError as exc:
        raise GitError(f"git cannot be started: {exc.strerror}.") from exc
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as exc:
        _end(process)
        raise GitError(f"git {args[0]} gave no answer within {timeout:g} seconds.") from exc
    except BaseException:
        _end(process)
        raise
    if process.returncode != 0:
        raise GitError(f"git {args[0]} failed: {_last_line(errors)}")
    return output


def _end(process: subprocess.Popen[bytes]) -> None:
    # The transport helper is git's child and would live on.
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _environment() -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in _LOCAL_VARIABLES}
    environment |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GCM_INTERACTIVE": "never",
        "LC_ALL": "C.UTF-8",
    }
    environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=5")
    return environment


def _last_line(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("fatal:", "error:")):
            return line.split(":", 1)[1].strip().rstrip(".") + "."
    return f"{lines[-1].rstrip('.')}." if lines else "it said nothing."
