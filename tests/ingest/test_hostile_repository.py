"""A repository whose settings name programs: whatever is done with it, none of them runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from adk_evidence.errors import EvidenceError, SourceError
from adk_evidence.index.codebase import Codebase
from adk_evidence.index.settings import settings_for
from adk_evidence.index.sources import SourceReader
from adk_evidence.store.manifest import SourceLocation
from adk_ingest.corpora.codebase import codebase_corpora
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from adk_ingest.session import Sources, ingest
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.codebase import open_codebase
from adk_ingest.sources.git import clone_or_update, has_changes, open_checkout
from tests.corpora import CODE, HashEmbedder, Workplace, git, shared_sparse, write_checkout, write_files

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the planted programs are shell scripts"),
]

HOOKS = ("post-checkout", "post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman")
# Commands of git that the product uses, under another meaning.
ALIASES = ("status", "ls-files", "ls-tree", "rev-parse", "cat-file", "describe", "symbolic-ref", "config", "fetch")


class Hostile:
    """A checkout of the small kit that names one program wherever git takes one."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "hostile"
        self.ran = folder / "ran"
        self.program = folder / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.ran}\nexit 1\n')
        self.program.chmod(0o755)
        write_files(self.root, {".gitattributes": "* filter=evil diff=evil merge=evil\n"})
        self.commit = write_checkout(self.root)
        for hook in HOOKS:
            write_files(self.root / ".git/hooks", {hook: self.program.read_text()})
            (self.root / ".git/hooks" / hook).chmod(0o755)
        write_files(self.root, {"pyvenv.cfg": "home = /usr\n", "bin/python": self.program.read_text()})
        (self.root / "bin/python").chmod(0o755)
        self._configure()
        # All files look changed, so that git would ask the filters what is in them.
        for path in self.root.rglob("*.py"):
            os.utime(path, (1, 1))

    def _configure(self) -> None:
        run = str(self.program)
        settings = {
            **{f"filter.evil.{kind}": run for kind in ("clean", "smudge", "process")},
            "filter.evil.required": "true",
            **{f"diff.evil.{kind}": run for kind in ("textconv", "command")},
            "merge.evil.driver": run,
            "diff.external": run,
            "core.fsmonitor": run,
            "core.hooksPath": str(self.root / ".git/hooks"),
            **{f"core.{kind}": run for kind in ("pager", "editor", "sshCommand", "askPass", "gitProxy")},
            "core.alternateRefsCommand": run,
            "credential.helper": f"!{run}",
            "gpg.program": run,
            "log.showSignature": "true",
            "uploadpack.packObjectsHook": run,
            **{f"alias.{name}": f"!{run}" for name in ALIASES},
            **{f"pager.{name}": run for name in ALIASES},
            "protocol.allow": "always",
            "protocol.ext.allow": "always",
            "remote.origin.url": f"ext::{run}",
            "remote.origin.uploadpack": run,
            "remote.origin.promisor": "true",
            "remote.origin.partialclonefilter": "blob:none",
            "extensions.partialClone": "origin",
            "submodule.recurse": "true",
            "submodule.inner.update": f"!{run}",
        }
        config = self.root / ".git/config"
        lines = []
        for name, value in settings.items():
            section, _, key = name.rpartition(".")
            section, _, inner = section.partition(".")
            lines.append(f'[{section}{f" {chr(34)}{inner}{chr(34)}" if inner else ""}]\n\t{key} = "{value}"\n')
        # Once more in a file that is included.
        (self.root / ".git/more").write_text("".join(lines))
        with config.open("a") as file:
            file.write("".join(lines) + "[include]\n\tpath = more\n")

    def assert_quiet(self) -> None:
        assert not self.ran.exists(), self.ran.read_text()


def checkout_of(folder: Path, root: Path) -> CorpusSource:
    return open_checkout(folder, Workplace(root / "place").settings.ingestion.corpora.adk_python)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hostile:
    made = Hostile(tmp_path)
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(made.program))
    return made


def test_looking_at_a_checkout_runs_nothing(hostile: Hostile, tmp_path: Path) -> None:
    assert checkout_of(hostile.root, tmp_path).commit == hostile.commit
    assert open_codebase(hostile.root).git is not None
    hostile.assert_quiet()


def test_indexing_it_runs_nothing_and_cites_its_commit(hostile: Hostile, tmp_path: Path) -> None:
    place = Workplace(tmp_path / "place")
    indexer = CodebaseIndexer(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
    report = indexer.build(Codebase(name="hostile", path=hostile.root), Progress())
    assert report.files >= len(CODE)
    indexer.update("hostile", lambda: False, lambda *said: None)
    sources = Sources(docs=str(place.docs), code=str(hostile.root), allow_network=False)
    run = ingest(place.settings, "all", sources, Progress(), dense=HashEmbedder(), sparse=shared_sparse())
    assert run.corpora["adk_python"].commit == hostile.commit
    assert place.ask("retry a failing tool").candidates
    hostile.assert_quiet()


def test_a_commit_that_lacks_a_file_is_not_completed_from_a_server(hostile: Hostile) -> None:
    path = next(name for name in CODE if name.endswith(".py"))
    blob = git(hostile.root, "-c", "core.fsmonitor=false", "rev-parse", f"HEAD:{path}")
    hostile.ran.unlink(missing_ok=True)
    (hostile.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    reader = SourceReader(SourceLocation(kind="git", root=hostile.root, commit=hostile.commit))
    assert reader.read_at_commit(path) is None
    hostile.assert_quiet()


def test_it_is_not_updated_in_the_place_of_a_clone(hostile: Hostile, tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    write_checkout(upstream, {"a.py": "answer = 42\n"})
    with pytest.raises(SourceError, match="settings name more than a clone needs"):
        clone_or_update(upstream.as_uri(), hostile.root, notify=lambda said: None)
    hostile.assert_quiet()


def test_a_clone_beside_it_does_not_heed_it(hostile: Hostile, tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    write_checkout(upstream, {"a.py": "answer = 42\n"})
    with (hostile.root / ".git/config").open("a") as file:
        file.write(f'[url "ext::{hostile.program}"]\n\tinsteadOf = {upstream.as_uri()}\n')
    clone_or_update(upstream.as_uri(), hostile.root / "home/corpora/clone", notify=lambda said: None)
    assert (hostile.root / "home/corpora/clone/a.py").exists()
    hostile.assert_quiet()


def test_a_checkout_is_not_taken_for_an_environment_whose_python_is_asked(hostile: Hostile, tmp_path: Path) -> None:
    place = Workplace(tmp_path / "place")
    (hostile.root / ".git").rename(tmp_path / "git")
    sources = Sources(code=str(hostile.root), allow_network=False)
    with pytest.raises(EvidenceError):
        ingest(place.settings, "code", sources, Progress(), dense=HashEmbedder(), sparse=shared_sparse())
    hostile.assert_quiet()


@pytest.mark.parametrize("place", ["gone", "elsewhere"])
def test_a_working_tree_elsewhere_is_not_read(hostile: Hostile, tmp_path: Path, place: str) -> None:
    elsewhere = write_files(tmp_path / "elsewhere", {"mine.py": "mine = 1\n"})
    with (hostile.root / ".git/config").open("a") as file:
        file.write(f"[core]\n\tworktree = {elsewhere.with_name(place)}\n")
    workplace = Workplace(tmp_path / "place")
    settings = settings_for(workplace.settings, Codebase(name="hostile", path=hostile.root))
    found = codebase_corpora(settings, open_codebase(hostile.root), "now")
    paths = {file.path for corpus in found.corpora for file in corpus.files}
    assert paths and "mine.py" not in paths
    hostile.assert_quiet()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_the_place_of_a_committed_file_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    write_checkout(folder, {"a.py": "a = 1\n"})
    (folder / "a.py").unlink()
    os.mkfifo(folder / "a.py")
    assert has_changes(checkout_of(folder, tmp_path))


class TestLineEnds:
    def test_a_clean_checkout_with_other_line_ends_is_clean(self, tmp_path: Path) -> None:
        folder = tmp_path / "code"
        commit = write_checkout(folder, {".gitattributes": "* text=auto eol=crlf\n", "a.py": "a = 1\nb = 2\n"})
        (folder / "a.py").write_bytes(b"a = 1\r\nb = 2\r\n")
        source = checkout_of(folder, tmp_path)
        assert (source.commit, has_changes(source)) == (commit, False)
        (folder / "a.py").write_bytes(b"a = 1\r\nb = 3\r\n")
        assert has_changes(checkout_of(folder, tmp_path))
