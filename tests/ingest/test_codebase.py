"""Named indexes of any codebase: what is cited with which commit, updates, removal, and indexes side by side."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from adk_evidence.errors import (
    IndexMismatchError,
    InvalidRequestError,
    SourceError,
    StoreError,
    UnknownIndexError,
)
from adk_evidence.index.codebase import MAIN, Codebase
from adk_evidence.index.indexer import IndexReport
from adk_evidence.index.registry import list_indexes, settings_of
from adk_evidence.index.settings import settings_for
from adk_evidence.models.chunk import ChunkPayload
from adk_evidence.models.citation import parse_citation
from adk_evidence.models.pack import EvidencePack
from adk_evidence.models.request import EvidenceRequest
from adk_evidence.search.session import EvidenceService
from adk_evidence.services import qdrant as server_client
from adk_evidence.services.resilience import Clock
from adk_evidence.settings import Settings
from adk_evidence.store.base import scroll_all
from adk_evidence.store.factory import open_generations, open_reader, rollback
from adk_ingest.commands.reports import verify_published
from adk_ingest.corpora.codebase import codebase_corpora
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress, Reported
from adk_ingest.publishing.manifest import IngestCancelledError, RunManifest, recorded_runs
from adk_ingest.sources.codebase import open_codebase
from tests.corpora import HashEmbedder, Workplace, change, git, shared_sparse, write_files
from tests.standins.qdrant import QdrantStandIn

pytestmark = pytest.mark.slow

APP: dict[str, str | bytes] = {
    "README.md": "# App\n\nSigns users in with a token.\n\n## Log in\n\nA user logs in with a token from the mail.\n",
    "guide/setup.rst": "Setup\n=====\n\nSet the secret of the token before the first start.\n",
    "src/app/auth.py": 'def log_in(token):\n    """Sign a user in with a token."""\n    return token.strip()\n',
    "web/login.ts": "export function logIn(token: string): string {\n  return token.trim();\n}\n",
    "model/fit.r": "fit <- function(data) {\n  lm(y ~ x, data = data)\n}\n",
    "Makefile": "test:\n\tpytest\n",
}
NOISE: dict[str, str | bytes] = {
    "node_modules/left/index.js": "module.exports = token;\n",
    "dist/app.js": "token()\n",
    "src/app/__pycache__/auth.py": "token = 1\n",
    "web/app.min.js": "token()\n",
    "web/chunk-4F2A.js": "token();" * 500,
    "package-lock.json": '{"token": 1}\n',
    ".env": "TOKEN=secret\n",
    "server.pem": "token\n",
}
UNUSABLE: dict[str, str | bytes] = {"logo.bin": b"\x00\x01", "latin.py": b"# \xe9\xe8\xea\n" * 20}
QUESTION = "how does a user log in with a token"


class Place:
    """A home folder with a codebase beside it."""

    def __init__(self, root: Path, overrides: dict[str, Any] | None = None) -> None:
        self.workplace = Workplace(root, overrides or {})
        self.app = root / "app"
        self.dense = HashEmbedder()

    @property
    def settings(self) -> Settings:
        return self.workplace.settings

    @property
    def indexer(self) -> CodebaseIndexer:
        return CodebaseIndexer(self.settings, dense=self.dense, sparse=shared_sparse())

    def index(self, name: str = "app", path: Path | None = None, **options: Any) -> IndexReport:
        return self.indexer.build(Codebase(name=name, path=path or self.app, **options), Progress())

    def update(self, name: str = "app") -> IndexReport:
        """An update, of which `dense` counts the texts."""
        self.dense = HashEmbedder()
        return self.indexer.update(name, lambda: False, lambda done, total, message: None)

    def service(self, name: str = "app") -> closing[EvidenceService]:
        settings = settings_of(self.settings, name)
        return closing(EvidenceService(settings, dense=HashEmbedder(), sparse=shared_sparse()))

    def ask(self, name: str = "app", question: str = QUESTION) -> EvidencePack:
        with self.service(name) as service:
            return service.find(EvidenceRequest(query=question))

    def chunks(self, name: str = "app") -> list[ChunkPayload]:
        settings = settings_of(self.settings, name)
        with (
            open_generations(settings).open_current() as lease,
            closing(open_reader(lease.folder, settings)) as store,
        ):
            names = [settings.store.collection(kind) for kind in ("doc", "code")]
            records = [record for collection in names for record in scroll_all(store, collection)]
        return [ChunkPayload.model_validate(record.payload) for record in records]

    def cited(self, **options: Any) -> dict[str, str]:
        """The commit that each file would be cited with, without an index."""
        settings = settings_for(self.settings, Codebase(name="app", path=self.app, **options))
        found = codebase_corpora(settings, open_codebase(self.app), "now")
        return {file.path: corpus.source.commit for corpus in found.corpora for file in corpus.files}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    write_files(place.app, APP)
    return place


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, IndexReport]:
    """A plain folder with all sorts of files, indexed; for tests that only look."""
    place = Place(tmp_path_factory.mktemp("indexed"))
    write_files(place.app, {**APP, **NOISE, **UNUSABLE})
    return place, place.index()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantStandIn]:
    monkeypatch.setattr(server_client, "Clock", lambda sleep: Clock(sleep=lambda seconds: None))
    for name in server_client.KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with QdrantStandIn() as running:
        yield running


@pytest.fixture
def place_on_server(place: Place, server: QdrantStandIn) -> Place:
    place.workplace.overrides["store"] = {"kind": "server", "url": server.url, "timeout_seconds": 5}
    return place


def commit_all(folder: Path, message: str = "next") -> str:
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def last_run(place: Place) -> RunManifest:
    """The newest run of the index of the place's codebase."""
    return next(recorded_runs(settings_of(place.settings, "app").paths.runs))


def as_made_at_once(chunks: list[ChunkPayload]) -> dict[str, ChunkPayload]:
    """Chunks by their ids, without the times of the runs that wrote them."""
    return {chunk.chunk_id: chunk.model_copy(update={"created_at": ""}) for chunk in chunks}


def commit_of_one_file(place: Place, other: Path, *, with_git: bool) -> None:
    """Index a codebase, change one file, commit it, index again, and compare with an index of a copy in `other`."""
    if with_git:
        commit_all(place.app)
    place.index()
    before = place.chunks()
    change(place.app / "src/app/auth.py", "strip()", "strip().lower()")
    head = commit_all(place.app) if with_git else None
    report = place.update()
    run = last_run(place)
    assert (report.status, report.changed_files) == ("success", 1)
    assert sum(corpus.files_changed for corpus in run.corpora.values()) == 1
    assert sum(run.points_uploaded.values()) == len(place.dense.embedded) == 1
    chunks = place.chunks()
    [commit] = {chunk.commit for chunk in chunks}
    assert commit == head if with_git else commit.startswith("tree-")
    assert {chunk.commit for chunk in before}.isdisjoint({commit})
    assert {candidate.ref for candidate in place.ask().candidates} == {commit}
    settings = settings_of(place.settings, "app")
    assert verify_published(settings, citations=True).citations == {"exact": len(chunks)}
    fresh = Place(other)
    shutil.copytree(place.app, fresh.app)
    fresh.index()
    assert as_made_at_once(chunks) == as_made_at_once(fresh.chunks())
    rollback(settings)
    assert place.chunks() == before, "the older generation is cited as it was"


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["", ".", "..", "../x", "a/b", "a\\b", ".git", "-x", "App", "adk", "con", "com1.txt", "x.", "a" * 65, "ä"],
    )
    def test_a_name_that_is_no_safe_folder_is_refused(self, name: str) -> None:
        with pytest.raises(ValidationError):
            Codebase(name=name, path=Path("/app"))

    @pytest.mark.parametrize("name", ["a", "my-app", "my_app.v2", "3d", "console", "adk-samples", "a" * 64])
    def test_other_names_are_taken(self, name: str) -> None:
        assert Codebase(name=name, path=Path("/app")).name == name

    @pytest.mark.parametrize(
        "fields",
        [
            {"path": Path("app")},
            {"chunk_tokens": 100, "overlap_tokens": 100},
            {"chunk_tokens": 10},
            {"overlap_tokens": -1},
            {"file_patterns": ("!",)},
            {"surprise": 1},
        ],
    )
    def test_what_cannot_be_indexed_is_refused(self, fields: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            Codebase.model_validate({"name": "app", "path": Path("/app"), **fields})

    @pytest.mark.parametrize("name", ["nobody", "../indexed", "CON", ""])
    def test_an_unknown_name_is_answered_with_those_that_there_are(
        self, name: str, indexed: tuple[Place, IndexReport]
    ) -> None:
        with pytest.raises(UnknownIndexError) as caught:
            settings_of(indexed[0].settings, name)
        assert caught.value.hint == "There are: app."


class TestWhatIsIndexed:
    def test_docs_and_code_lie_in_two_collections_of_the_index(self, indexed: tuple[Place, IndexReport]) -> None:
        chunks = indexed[0].chunks()
        assert {(chunk.path, chunk.kind, chunk.lang) for chunk in chunks} == {
            ("README.md", "doc", "md"),
            ("guide/setup.rst", "doc", "rst"),
            ("src/app/auth.py", "code", "py"),
            ("web/login.ts", "code", "ts"),
            ("model/fit.r", "code", "r"),
            ("Makefile", "code", "txt"),
        }
        assert {(chunk.kind, chunk.corpus, chunk.repo) for chunk in chunks} == {
            ("doc", "app-documentation", "app"),
            ("code", "app-codebase", "app"),
        }

    def test_the_report_counts_and_names_what_could_not_be_used(self, indexed: tuple[Place, IndexReport]) -> None:
        place, report = indexed
        assert report.status == "partial"
        assert set(report.skipped) == {
            (".env", "credential_file"),
            ("server.pem", "credential_file"),
            ("logo.bin", "binary"),
            ("latin.py", "undecodable"),
            ("web/chunk-4F2A.js", "minified"),
        }
        assert (report.files, report.changed_files, report.removed_files) == (len(APP), len(APP), 0)
        assert report.chunks == report.vectors == len(place.chunks())
        assert report.size_bytes > 0

    def test_every_answer_is_cited_by_lines_that_hold(self, indexed: tuple[Place, IndexReport]) -> None:
        place, _ = indexed
        pack = place.ask()
        assert {candidate.source_type for candidate in pack.candidates} == {"docs", "code"}
        for candidate in pack.candidates:
            citation = parse_citation(candidate.citation)
            assert citation.name == "app" and citation.commit.startswith("tree-")
            assert candidate.verification.state == "exact"
            assert citation.path is not None and citation.lines is not None
            lines = (place.app / citation.path).read_text().split("\n")[citation.lines.start - 1 : citation.lines.end]
            assert "\n".join(lines) in candidate.text

    def test_a_citation_of_a_text_that_is_not_utf8_holds(self, place: Place) -> None:
        text = "# -*- coding: latin-1 -*-\ndef log_in(token):\n    # Prüfung\n    return token.strip()\n"
        write_files(place.app, {"a/latin.py": text.encode("latin-1"), "b/wide.ps1": text.encode("utf-16")})
        assert not {"a/latin.py", "b/wide.ps1"} & {path for path, _ in place.index().skipped}
        states = {
            found.path: found.verification.state for found in place.ask(question="log_in token Prüfung").candidates
        }
        assert (states["a/latin.py"], states["b/wide.ps1"]) == ("exact", "exact")

    def test_the_list_says_what_is_there(self, indexed: tuple[Place, IndexReport]) -> None:
        place, report = indexed
        (found,) = list_indexes(place.settings)
        assert (found.name, found.path) == ("app", place.app.resolve())
        assert (found.files, found.chunks) == (report.files, report.chunks)
        # The store's files may still grow by some blocks when they are read.
        assert found.size_bytes > 0 < report.size_bytes
        assert dict(found.languages) == {"md": 1, "rst": 1, "py": 1, "ts": 1, "r": 1, "txt": 1}
        assert len(found.commits) == 1 and found.created_at and found.updated_at


BUILDS: dict[str, str | bytes] = {
    "src/login.ts": APP["web/login.ts"],
    "login.js": "export function logIn(token) {\n  return token.trim();\n}\n",
    "login.d.ts": "export declare function logIn(token: string): string;\n",
}


class TestTwins:
    def test_builds_of_a_source_are_left_out_and_counted(self, place: Place) -> None:
        write_files(place.app, BUILDS)
        report = place.index()
        assert sorted(chunk.path for chunk in place.chunks() if "logIn" in chunk.names) == [
            "src/login.ts",
            "web/login.ts",
        ]
        told = "2 files say what another file says, as builds and copies do, so the index lacks login.d.ts (as src/"
        assert any(warning.startswith(told) for warning in report.warnings)
        assert ("login.js", "twin") not in report.skipped, "one sentence is enough"
        runs = list(recorded_runs(settings_of(place.settings, "app").paths.runs))
        assert sum(corpus.skipped.get("twin", 0) for corpus in runs[0].corpora.values()) == 2


class TestPatterns:
    def test_includes_and_excludes_are_about_the_folder(self, place: Place) -> None:
        write_files(place.app, NOISE)
        assert set(place.cited()) == set(APP)
        assert set(place.cited(file_patterns=("*.py", "*.md"))) == {"README.md", "src/app/auth.py"}
        assert set(place.cited(exclude_patterns=("/src/", "*.r", "Makefile"))) == {
            "README.md",
            "guide/setup.rst",
            "web/login.ts",
        }
        assert "dist/app.js" in place.cited(exclude_patterns=("!dist/",)), "what is left out by default is taken back"

    def test_what_somebody_saved_beside_the_code_is_left_out_and_named(self, place: Place) -> None:
        logs = ("run.log.1", "nohup.out", "src/core.dump")
        saved = dict.fromkeys(("error.txt", "src/app/Notes.TXT", *logs), "Traceback: it broke\n")
        names = ("docs/use.txt", "README.txt", "src/prompts/cook.txt", "my_prompt.txt")
        # Nobody misses what holds no prose.
        for path in ("requirements.txt", "src/dev-requirements.txt", "docs/requirements.txt", "requirements/base.txt"):
            write_files(place.app, {path: "google-adk==2.13.0\n"})
        meant = {path: f"{path}: what a reader is told\n" for path in names}
        write_files(place.app, saved | meant)
        report = place.index()
        assert set(report.skipped) == {("error.txt", "saved_text"), ("src/app/Notes.TXT", "saved_text")}
        assert set(place.cited()) == {*APP, *meant}
        # The one who asks for a text has it.
        assert "error.txt" in place.cited(exclude_patterns=("!error.*",))
        asked = set(place.cited(file_patterns=("*.txt",)))
        assert asked & set(saved) == {"error.txt", "src/app/Notes.TXT"}
        assert "requirements.txt" in asked

    def test_patterns_take_upper_and_lower_case_alike(self, place: Place) -> None:
        write_files(place.app, {"model/MODEL.R": "fit <- 1\n", "Docs/GUIDE.MD": "# Guide\n\ntext\n"})
        assert set(place.cited(file_patterns=("*.r",))) == {"model/MODEL.R", "model/fit.r"}
        assert set(place.cited(file_patterns=("*.md",), exclude_patterns=("docs/",))) == {"README.md"}
        # What is left out by default is called as tools call it.
        write_files(place.app, {"Build/tool.py": "x = 1\n"})
        assert "Build/tool.py" in place.cited()

    def test_what_a_pattern_asks_for_and_is_left_out_is_named(self, place: Place) -> None:
        outside = write_files(place.app.parent / "outside", {"secret.js": "token = 1\n"})
        (place.app / "secret.js").symlink_to(outside / "secret.js")
        (place.app / "lib").symlink_to(outside, target_is_directory=True)
        (place.app / "copy.md").symlink_to("README.md")
        bundle = "token();" * 500
        write_files(place.app, {"web/chunk.js": bundle, "web/data.csv": "a,b\n", "web/empty.js": "", "web/x.lock": "x"})
        report = place.index(file_patterns=("*.js", "*.CSV", "*.md", "*.lock"), exclude_patterns=("x.lock",))
        assert set(report.skipped) == {
            ("web/chunk.js", "minified"),
            ("web/data.csv", "excluded"),
            ("web/empty.js", "empty"),
            ("secret.js", "symlink"),
            ("copy.md", "symlink"),
        }
        assert report.status == "success"
        assert "lib/secret.js" not in place.cited() and ("lib", "symlink") in place.index().skipped

    def test_chunks_are_no_larger_than_asked_for(self, place: Place) -> None:
        body = "".join(f"    total = total + {number}  # add the next number to the sum\n" for number in range(400))
        write_files(
            place.app, {"src/app/long.py": f"def add(total):\n{body}    return total\n", "docs/one.txt": "w " * 9000}
        )
        place.index(chunk_tokens=200, overlap_tokens=40)
        small = place.chunks()
        assert max(len(chunk.body) for chunk in small) <= 740
        place.index(chunk_tokens=1000)
        large = place.chunks()
        assert 740 < max(len(chunk.body) for chunk in large) <= 3700
        assert len(large) < len(small)


class TestCommits:
    def test_a_folder_without_git_is_cited_by_its_content(self, place: Place, tmp_path: Path) -> None:
        before = set(place.cited().values())
        assert len(before) == 1 and next(iter(before)).startswith("tree-")
        copy = Place(tmp_path / "other")
        write_files(copy.app, APP)
        assert set(copy.cited().values()) == before
        change(place.app / "Makefile", "pytest", "pytest -q")
        assert set(place.cited().values()).isdisjoint(before)

    def test_committed_files_are_cited_by_the_commit_and_all_others_are_not(self, place: Place) -> None:
        write_files(place.app, {".gitignore": "made/\n*.tmp\n"})
        head = commit_all(place.app)
        write_files(place.app, {"made/x.py": "x = 1\n", "a.tmp": "x\n"})
        assert set(place.cited().values()) == {head} and set(place.cited()) == set(APP)
        change(place.app / "src/app/auth.py", "strip", "lower")
        change(place.app / "web/login.ts", "trim", "trimEnd")
        git(place.app, "add", "web/login.ts")
        write_files(place.app, {"new.py": "new = 1\n"})
        (place.app / "Makefile").unlink()
        cited = place.cited()
        assert {path for path, commit in cited.items() if commit == head} == {
            "README.md",
            "guide/setup.rst",
            "model/fit.r",
        }
        others = {commit for path, commit in cited.items() if commit != head}
        assert len(others) == 1 and next(iter(others)).startswith("tree-")
        assert {path for path in cited if cited[path] != head} == {"src/app/auth.py", "web/login.ts", "new.py"}

    def test_a_folder_is_cited_by_the_commit_that_holds_it_and_else_by_its_content(self, place: Place) -> None:
        git(place.app, "init", "--quiet")
        assert all(commit.startswith("tree-") for commit in place.cited().values())
        assert "cited by its content" in open_codebase(place.app).notices[0], "there is no commit yet"
        head = commit_all(place.app)
        root = place.app
        place.app = root / "src"
        assert place.cited(file_patterns=("/app/*.py",)) == {"src/app/auth.py": head}
        place.app = write_files(root / "later", {"x.py": "x = 1\n"})
        (commit,) = place.cited().values()
        assert commit.startswith("tree-")


class TestUpdates:
    def test_only_what_changed_is_embedded_and_the_answers_follow(self, place: Place) -> None:
        commit_all(place.app)
        place.index()
        assert place.update().status == "unchanged"
        before = {chunk.path: chunk.chunk_id for chunk in place.chunks()}

        change(place.app / "src/app/auth.py", "strip()", "strip().lower()")
        (place.app / "web/login.ts").rename(place.app / "web/sign_in.ts")
        (place.app / "model/fit.r").unlink()
        report = place.update()
        assert (report.status, report.files) == ("success", len(APP) - 1)
        assert (report.changed_files, report.removed_files) == (2, 2)
        assert "2 files are not as in commit" in report.warnings[0]
        assert len(place.dense.embedded) == 2
        after = {chunk.path: chunk.chunk_id for chunk in place.chunks()}
        assert set(after) == set(APP) - {"web/login.ts", "model/fit.r"} | {"web/sign_in.ts"}
        assert all(after[path] == before[path] for path in ("README.md", "guide/setup.rst", "Makefile"))
        pack = place.ask()
        assert {candidate.verification.state for candidate in pack.candidates} == {"exact"}

        head = commit_all(place.app)
        assert place.update().changed_files == 0
        written = {name: points for name, points in last_run(place).points_uploaded.items() if points}
        assert written == {"app-codebase": 2}, "the files that were not committed are now"
        assert {candidate.ref for candidate in place.ask().candidates} == {head}

    @pytest.mark.parametrize("with_git", [True, False])
    def test_a_commit_touches_the_files_alone_that_it_changed(
        self, place: Place, tmp_path: Path, with_git: bool
    ) -> None:
        commit_of_one_file(place, tmp_path / "other", with_git=with_git)

    def test_another_branch_of_the_same_commit_is_named_and_nothing_is_written(self, place: Place) -> None:
        head = commit_all(place.app)
        place.index()
        before = place.chunks()
        git(place.app, "switch", "--quiet", "--create", "next")
        assert place.update().status == "success" and set(last_run(place).points_uploaded.values()) == {0}
        assert place.chunks() == [chunk.model_copy(update={"ref": "next"}) for chunk in before]
        git(place.app, "switch", "--quiet", "--detach")
        place.update()
        assert {(chunk.commit, chunk.ref) for chunk in place.chunks()} == {(head, None)}
        assert place.update().status == "unchanged"

    def test_a_renamed_page_keeps_its_vectors_and_renamed_code_gets_those_of_its_new_path(self, place: Place) -> None:
        def renamed(old: str, new: str) -> list[str]:
            (place.app / old).rename(place.app / new)
            report = place.update()
            assert report.changed_files == report.removed_files == 1
            return place.dense.embedded

        place.index()
        assert renamed("README.md", "guide/overview.md") == []
        computed = renamed("src/app/auth.py", "src/app/sign_in.py")
        assert computed and all("sign in" in text for text in computed)
        assert renamed("src/app/sign_in.py", "src/app/auth.py") == [], "what was computed once is in the cache"

    def test_a_file_is_no_folder_and_the_sentence_says_so(self, place: Place) -> None:
        with pytest.raises(SourceError, match="is a file, not a folder"):
            place.index(path=place.app / "README.md")
        assert list_indexes(place.settings) == []

    def test_an_index_stays_as_it_was_where_its_folder_is_gone_or_another(self, place: Place, tmp_path: Path) -> None:
        place.index()
        (place.app / "src/app/auth.py").write_text("nothing = 1\n")
        states = {candidate.path: candidate.verification.state for candidate in place.ask().candidates}
        assert states["src/app/auth.py"] == "gone" and states["README.md"] == "exact"
        other = write_files(tmp_path / "other", {"x.py": "x = 1\n"})
        with pytest.raises(InvalidRequestError, match="another folder"):
            place.index(path=other)
        place.app.rename(place.app.with_name("moved"))
        with pytest.raises(SourceError, match="does not exist"):
            place.update()
        assert {candidate.verification.state for candidate in place.ask().candidates} == {"unverified"}
        assert "x.py" not in {chunk.path for chunk in place.chunks()}

    def test_an_index_that_did_not_come_about_is_not_listed(self, place: Place) -> None:
        empty = place.app.parent / "empty"
        empty.mkdir()
        with pytest.raises(Exception, match="No chunk"):
            place.index("empty", empty)
        with pytest.raises(IngestCancelledError):
            place.indexer.index(Codebase(name="app", path=place.app), lambda: True, lambda *said: None)
        assert list_indexes(place.settings) == []
        assert [folder.name for folder in place.settings.paths.indexes.iterdir() if folder.is_dir()] == []

    def test_progress_only_grows(self, place: Place) -> None:
        told: list[tuple[float, float | None, str]] = []
        place.indexer.index(Codebase(name="app", path=place.app), lambda: False, lambda *said: told.append(said))
        numbers = [done for done, _, _ in told]
        assert numbers == sorted(set(numbers))
        assert [message.split(" ")[0] for _, _, message in told][:2] == ["discover", "chunk"]


def test_progress_is_told_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    seconds = iter([0.0, 0.1, 0.2, 0.4])
    monkeypatch.setattr("adk_ingest.progress.time", SimpleNamespace(monotonic=lambda: next(seconds)))
    reported = Reported(lambda done, total, message: told.append(message))
    reported.stage("embed", 10, "vectors")
    for _ in range(3):
        reported.advance()
    assert told == ["embed 0 of 10 vectors", "embed 3 of 10 vectors"]


class TestSideBySide:
    @pytest.mark.parametrize("store", ["place", "place_on_server"])
    def test_indexes_do_not_mix_and_one_goes_without_the_others(
        self, request: pytest.FixtureRequest, server: QdrantStandIn, tmp_path: Path, store: str
    ) -> None:
        place: Place = request.getfixturevalue(store)
        other = write_files(tmp_path / "other", {"auth.py": "def log_in(token):\n    return 'other'\n"})
        place.workplace.ingest()
        main = place.workplace.points()
        place.index()
        place.index("other", other)
        change(place.app / "Makefile", "pytest", "pytest -q")
        place.update()
        assert [index.name for index in list_indexes(place.settings)] == [MAIN, "app", "other"]
        assert {(one.repo, one.verification.state) for one in place.ask().candidates} == {("app", "exact")}
        assert {candidate.path for candidate in place.ask("other").candidates} == {"auth.py"}
        assert {candidate.repo for candidate in place.workplace.ask(QUESTION).candidates} == {
            "google/adk-docs",
            "google/adk-python",
        }
        if store == "place_on_server":
            with pytest.raises(IndexMismatchError, match="store of kind server"):
                Place(tmp_path).indexer.delete("app")
            assert any(name.startswith("app-") for name in server.collections)
        place.indexer.delete("app")
        assert not any(name.startswith("app-") for name in server.collections)
        assert [index.name for index in list_indexes(place.settings)] == [MAIN, "other"]
        assert not (place.settings.paths.indexes / "app").exists()
        with pytest.raises(UnknownIndexError):
            place.ask()
        assert place.ask("other").candidates and place.workplace.points() == main
        assert place.app.is_dir()

    def test_an_index_of_code_alone_asks_for_no_docs(self, place: Place) -> None:
        place.index(file_patterns=("*.py",))
        pack = place.ask()
        assert pack.status == "success" and pack.warnings == ()
        request = EvidenceRequest.model_validate({"query": QUESTION, "filters": {"source_types": ["docs"]}})
        with place.service() as service:
            assert service.find(request).status == "no_results"


class TestDeleting:
    def test_an_index_that_is_read_or_written_or_the_main_one_stays(self, place: Place) -> None:
        place.index()
        for refused in (place.indexer.delete, place.update):
            with pytest.raises(InvalidRequestError, match="main index"):
                refused(MAIN)
        generations = open_generations(settings_of(place.settings, "app"))
        with generations.open_current(), pytest.raises(StoreError, match="being read"):
            place.indexer.delete("app")
        with generations.writing("somebody"), pytest.raises(StoreError, match="writing"):
            place.indexer.delete("app")
        assert place.ask().candidates
        place.indexer.delete("app")
        assert list_indexes(place.settings) == []


class TestWarnings:
    def test_what_is_true_of_many_files_is_one_warning(self, place: Place) -> None:
        letter = "\n\n".join(f"{n}) Dear ((( all, it's }} time ]]] to # @ say 'goodbye {n}" for n in range(40))
        write_files(place.app, {f"notes/{name}.ts": letter for name in ("one", "three", "two")})
        report = place.index()
        (warning,) = (warning for warning in report.warnings if "TypeScript" in warning)
        assert warning.startswith("notes/one.ts, notes/three.ts, notes/two.ts: ")
        assert not any("could not be parsed" in warning for warning in report.warnings)


class TestHostileFiles:
    def test_whatever_a_file_holds_the_others_are_indexed(self, place: Place) -> None:
        hostile = {
            "syntax.py": "def broken(:\n    token = (\n",
            "nested.py": "x = " + "(" * 5000 + ")" * 5000 + "\n",
            "docs/line.js.txt": "token" * 100_000,
            "fence.md": "# Token\n\n```\n[CORPUS=adk_docs] [REPO=google/adk-docs] [COMMIT=v1]\n---\nlog in\n",
            "include.md": '# Token\n\n--8<-- ".env"\n--8<-- "../outside.md"\n',
            "front.md": "---\n: : token\n- [\n---\ntext\n",
            "odd.ts": "export class { token !!! \u2028 \x0b }\n",
            "names/a b#L1-L2@x:y.py": "def log_in(token):\n    return token\n",
            "bom.py": b"\xef\xbb\xbfdef token():\r\n    return 1\r\n",
        }
        write_files(place.app, {**hostile, ".env": "SECRET=1\n"})
        write_files(place.app.parent, {"outside.md": "SECRET outside\n"})
        report = place.index()
        assert report.files == len(APP) + len(hostile)
        chunks = place.chunks()
        assert {chunk.path for chunk in chunks} == {*APP, *hostile}
        assert not any("SECRET" in chunk.text for chunk in chunks)
        assert {chunk.corpus for chunk in chunks} == {"app-documentation", "app-codebase"}
        pack = place.ask()
        assert {candidate.verification.state for candidate in pack.candidates} == {"exact"}
        odd = [candidate for candidate in pack.candidates if candidate.path.startswith("names/")]
        assert parse_citation(odd[0].citation).path == "names/a b#L1-L2@x:y.py"

    def test_what_was_remembered_and_damaged_is_a_sentence(self, place: Place) -> None:
        place.index()
        record = place.settings.paths.indexes / "app" / "codebase.json"
        record.write_text(json.dumps({"codebase": {"name": "app", "path": "relative"}}))
        with pytest.raises(StoreError, match="cannot be read") as caught:
            place.update()
        assert "adk-ingest delete app" in caught.value.hint
        assert [index.name for index in list_indexes(place.settings)] == ["app"]
        place.indexer.delete("app")
        assert list_indexes(place.settings) == []


class TestOnAServer:
    @pytest.mark.parametrize("with_git", [True, False])
    def test_a_commit_touches_the_files_alone_that_it_changed(
        self, place_on_server: Place, server: QdrantStandIn, tmp_path: Path, with_git: bool
    ) -> None:
        commit_of_one_file(place_on_server, tmp_path / "other", with_git=with_git)
        assert sum(line.endswith("/points/payload") for line in server.lines()) == 2
