"""The git command, run without questions and within a time limit; it starts no program that a repository names.

A repository's own settings can name programs: filters, hooks, a file monitor, helpers of transports. `run_git` turns
all of them off except filters, which git cannot turn off. So no caller may run a command that reads or writes files of
the working tree (`status`, `diff`, `add`, `checkout`) unless `foreign_settings` has shown that there are no such
settings.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from adk_evidence.errors import SourceError
from adk_evidence.text.textfile import read_small

# The git variables that are kept: where the user's settings are, and how servers are reached. The others would point
# git at another repository, or start programs.
_KEPT_VARIABLES = re.compile(
    r"GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|GIT_CEILING_DIRECTORIES"
    r"|GIT_DISCOVERY_ACROSS_FILESYSTEM|GIT_SSL_\w+|GIT_PROXY_SSL_\w+|GIT_HTTP_\w+|GIT_SSH|GIT_SSH_VARIANT|GIT_SSH_COMMAND"
)
# These options beat the settings of a repository. They also keep helpers from opening a window for a password.
_SAFE_OPTIONS = tuple(
    option
    for setting in (
        "core.fsmonitor=false",
        f"core.hooksPath={os.devnull}",
        "core.alternateRefsCommand=",
        "credential.helper=",
        "gc.auto=0",
        "maintenance.auto=false",
        "safe.bareRepository=explicit",
        "submodule.recurse=false",
        "fetch.recurseSubmodules=false",
    )
    for option in ("-c", setting)
)
# Other transports, such as `ext`, start a program that the address names. Commands that need no server may not fetch at
# all: in a partial clone, git would ask the server for each missing object.
_TRANSPORTS = "file:http:https:ssh"
# What `git init` and `git remote add` write, and names of people.
_PLAIN_SETTING = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)"
    r"|extensions\.objectformat|remote\.origin\.(?:url|fetch)|branch\..*\.(?:remote|merge)|user\.(?:name|email)",
    re.IGNORECASE | re.DOTALL,
)


# A `.git` that is a file holds one path.
_MAX_LINK_BYTES = 8192


class GitError(SourceError):
    """A git command failed; the message ends with what git said."""


class GitRefusalError(GitError):
    """Git itself refused, as it will again: there is no such file, commit or repository."""


def run_git(
    args: Sequence[str], *, cwd: Path | None = None, timeout: float = 30, network: bool = False, inside: bool = True
) -> bytes:
    """Run git and return its standard output.

    Args:
        args: Arguments after `git`; the first is the subcommand.
        cwd: The folder to run in.
        timeout: Seconds, after which git and its children are ended.
        network: Whether a server may be asked.
        inside: Whether the repository that holds `cwd` counts.

    Raises:
        GitRefusalError: git says that the command cannot be carried out.
        GitError: git is missing, was ended or took too long.
    """
    command = [_program(), "--no-pager", "--no-optional-locks", *_SAFE_OPTIONS, *args]
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=_environment(network=network, inside=inside),
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
    if process.returncode < 0:
        raise GitError(f"git {args[0]} was ended by signal {-process.returncode}.")
    if process.returncode > 0:
        raise GitRefusalError(f"git {args[0]} failed: {_last_line(errors)}")
    return output


def foreign_settings(root: Path) -> list[str]:
    """Names of a repository's own settings that not every clone has. Reading them starts no program.

    Raises:
        GitError: The repository cannot be read.
    """
    listing = run_git(["config", "--local", "--no-includes", "--list", "--name-only", "-z"], cwd=root)
    names = {name.decode("utf-8", "replace") for name in listing.split(b"\0") if name}
    return sorted(name for name in names if not _PLAIN_SETTING.fullmatch(name))


def is_copy(folder: Path, root: Path) -> bool:
    """Whether a folder below `root` is one more working tree of a repository whose files `root` has at another place.

    That shows from the files that git writes, so git is not asked. Working trees of a bare repository stand for
    themselves, as do submodules.
    """
    repository = _linked_to(folder)
    if repository is None:
        return False
    root = root.resolve()
    around = next((one for one in (root, *root.parents) if os.path.lexists(one / ".git")), root)
    if _linked_to(around) == repository:
        return True
    # A bare repository has no list of files that are checked out.
    main, is_checked_out = repository.parent, os.path.isfile(repository / "index")  # noqa: PTH113 - never raises
    return is_checked_out and repository.name == ".git" and (main.is_relative_to(root) or root.is_relative_to(main))


def _linked_to(folder: Path) -> Path | None:
    """The folder of the repository that a linked working tree is of; None where a folder is no such tree."""
    key, _, place = (read_small(folder / ".git", _MAX_LINK_BYTES) or "").partition(":")
    with suppress(OSError, RuntimeError, ValueError):
        told = (folder / place.strip()).resolve()
        return told.parent.parent if key == "gitdir" and told.parent.name == "worktrees" else None
    return None


def _program() -> str:
    """Windows would look for git in the working folder first, which may be the repository."""
    if sys.platform == "win32":
        for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
            if folder.is_absolute() and (folder / "git.exe").is_file():
                return str(folder / "git.exe")
    return "git"


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


def _environment(*, network: bool, inside: bool) -> dict[str, str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _KEPT_VARIABLES.fullmatch(name)
    }
    environment |= {
        "GIT_ALLOW_PROTOCOL": _TRANSPORTS if network else "none",
        "GIT_NO_LAZY_FETCH": "1",
        # Replacements and grafts of a repository would change what its commits hold.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GCM_INTERACTIVE": "never",
        "LC_ALL": "C.UTF-8",
    }
    if not inside:
        environment["GIT_DIR"] = os.devnull
    environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=5")
    return environment


def _last_line(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    for line in lines:
        if line.startswith(("fatal:", "error:")):
            return line.split(":", 1)[1].strip().rstrip(".") + "."
    return f"{lines[-1].rstrip('.')}." if lines else "it said nothing."
