"""Sources say which repository and commit their files are of, and fail with a sentence where they cannot."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from adk_evidence.errors import SourceError
from adk_evidence.settings import CorpusSettings, Settings, load_settings
from adk_ingest.corpora.discovery import discover
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.distribution import open_installed, open_registry, open_wheel
from adk_ingest.sources.git import clone_or_update, open_checkout
from adk_ingest.sources.resolve import resolve_code, resolve_docs
from adk_ingest.sources.snapshot import open_snapshot
from tests.corpora import git, write_checkout, write_wheel

pytestmark = pytest.mark.slow

COMMIT = "0123456789abcdef0123456789abcdef01234567"
MODULES = {"src/google/demo_adk/__init__.py": "", "src/google/demo_adk/tool.py": "def run():\n    return 1\n"}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test may reach a network or see the user's git settings."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("ADK_EVIDENCE_DOCS", raising=False)


@pytest.fixture
def dead_proxy(monkeypatch: pytest.MonkeyPatch) -> str:
    """Host and port of the proxy that the environment names, with a password; nobody listens there."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ALL_PROXY", "NO_PROXY", "PIP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = f"127.0.0.1:{closed.getsockname()[1]}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://me:secret@{place}")
    return place


def docs_settings(**changes: object) -> CorpusSettings:
    return load_settings().ingestion.corpora.adk_docs.model_copy(update=changes)


def code_settings(**changes: object) -> CorpusSettings:
    return load_settings().ingestion.corpora.adk_python.model_copy(update=changes)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    write_checkout(folder, {"docs/a.md": "# A\n\nText.\n"})
    return folder


class TestCheckout:
    def test_it_knows_its_commit_and_branch(self, checkout: Path) -> None:
        source = open_checkout(checkout, docs_settings())
        assert (source.kind, source.repo) == ("git", "google/adk-docs")
        assert source.commit == git(checkout, "rev-parse", "HEAD")
        assert source.ref == "main"
        git(checkout, "tag", "v1.0.0")
        git(checkout, "checkout", "--quiet", "--detach")
        assert open_checkout(checkout, docs_settings()).ref == "v1.0.0"

    def test_a_folder_without_a_commit_is_refused_with_what_to_do(self, tmp_path: Path) -> None:
        for make in (lambda: None, lambda: git(tmp_path, "init", "--quiet")):
            make()
            with pytest.raises(SourceError, match="not a usable git checkout") as refused:
                open_checkout(tmp_path, docs_settings())
            assert "corpus.json" in refused.value.hint

    def test_a_folder_inside_it_keeps_the_repositorys_paths_if_the_commit_holds_it(self, checkout: Path) -> None:
        source = open_checkout(checkout / "docs", docs_settings())
        assert [file.path for file in discover(source, docs_settings()).files] == ["docs/a.md"]
        (checkout / "private").mkdir()
        (checkout / "private/x.md").write_text("mine")
        with pytest.raises(SourceError, match="does not hold it"):
            open_checkout(checkout / "private", docs_settings())


class TestClone:
    def clone(self, url: Path, destination: Path) -> list[str]:
        said: list[str] = []
        clone_or_update(url.as_uri(), destination, notify=said.append)
        return said

    def test_it_is_shallow_and_on_the_default_branch(self, checkout: Path, tmp_path: Path) -> None:
        (checkout / "docs/b.md").write_text("b")
        git(checkout, "add", ".")
        git(checkout, "commit", "--quiet", "-m", "second")
        assert self.clone(checkout, tmp_path / "home/clone") == [f"Cloning {checkout.as_uri()}"]
        source = open_checkout(tmp_path / "home/clone", docs_settings())
        assert (source.ref, source.commit) == ("main", git(checkout, "rev-parse", "HEAD"))
        assert git(tmp_path / "home/clone", "rev-list", "--count", "HEAD") == "1"
        assert sorted(path.name for path in (tmp_path / "home").iterdir()) == [".clone.lock", "clone"]

    def test_an_update_follows_the_branch_and_keeps_local_changes(self, checkout: Path, tmp_path: Path) -> None:
        clone, other = tmp_path / "clone", tmp_path / "other"
        self.clone(checkout, clone)
        (checkout / "docs/a.md").write_text("changed")
        git(checkout, "commit", "--quiet", "--amend", "-am", "rewritten")
        assert len(self.clone(checkout, clone)) == 1
        assert (clone / "docs/a.md").read_text() == "changed"
        assert self.clone(checkout, clone) == []
        (clone / "docs/a.md").write_text("mine")
        git(checkout, "commit", "--quiet", "--allow-empty", "-m", "second")
        other.mkdir()
        (other / "mine.txt").write_text("mine")
        for folder, why in ((clone, "local changes"), (other, "could not be updated")):
            with pytest.raises(SourceError, match=why):
                self.clone(checkout, folder)
        assert (clone / "docs/a.md").read_text() == "mine"
        assert [path.name for path in other.iterdir()] == ["mine.txt"]

    @pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for git is a shell script")
    def test_a_repository_that_does_not_answer_is_given_up_in_time(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        silent = tmp_path / "bin/git"
        silent.parent.mkdir()
        silent.write_text("#!/bin/sh\ntail -f /dev/null & wait\n")
        silent.chmod(0o755)
        monkeypatch.setenv("PATH", f"{silent.parent}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr("adk_ingest.sources.git.PROBE_SECONDS", 0.3)
        started = time.monotonic()
        with pytest.raises(SourceError, match="no answer within"):
            self.clone(tmp_path / "nowhere", tmp_path / "clone")
        assert time.monotonic() - started < 5

    def test_a_proxy_that_does_not_answer_is_named_without_its_password(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead_proxy: str
    ) -> None:
        monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "https")
        url = "https://docs.invalid/adk-docs.git"
        with pytest.raises(SourceError) as caught:
            clone_or_update(url, tmp_path / "clone", notify=lambda said: None)
        assert caught.value.message.startswith(f"{url} cannot be reached through the proxy {dead_proxy}: ")
        assert "HTTPS_PROXY" in (caught.value.hint or "") and "secret" not in str(caught.value)


class TestSnapshot:
    def test_it_is_what_its_manifest_says(self, tmp_path: Path) -> None:
        about = {"repo": "me/docs", "commit": COMMIT, "license": "MIT", "site_url": "https://example.org/", "note": "x"}
        (tmp_path / "corpus.json").write_text(json.dumps(about))
        source = open_snapshot(tmp_path, docs_settings())
        assert (source.kind, source.repo, source.commit) == ("snapshot", "me/docs", COMMIT)
        assert (source.licence, source.site_url) == ("MIT", "https://example.org/")

    @pytest.mark.parametrize(
        "raw",
        [
            "",
            "[]",
            '{"repo": "me/docs"}',
            f'{{"repo": "docs", "commit": "{COMMIT}"}}',
            f'{{"repo": "me/docs", "commit": "{COMMIT}", "site_url": "javascript:x"}}',
            f'{{"repo": "me/docs", "commit": "{COMMIT}", "corpus": "adk_python"}}',
            None,
        ],
    )
    def test_a_wrong_manifest_is_refused(self, tmp_path: Path, raw: str | None) -> None:
        if raw is not None:
            (tmp_path / "corpus.json").write_text(raw)
        with pytest.raises(SourceError, match=r"corpus\.json|is the corpus adk_python"):
            open_snapshot(tmp_path, docs_settings())


def make_wheel(folder: Path, version: str = "1.2.0", more: dict[str, str] | None = None) -> Path:
    """A wheel of demo-adk, whose packages lie in the shared namespace `google`."""
    return write_wheel(folder, version, MODULES, "demo-adk", more)


DEMO = {"repo": "o/demo-adk", "distribution": "demo-adk==1.2.0"}


class TestDistribution:
    def test_a_wheel_is_at_its_tag_and_has_the_repositorys_paths(self, tmp_path: Path) -> None:
        more = {"single.py": "x = 1\n", "one/__init__.py": "", "one/a.py": "a = 1\n", "ns/two/__init__.py": "b = 1\n"}
        source = open_wheel(make_wheel(tmp_path, more=more), tmp_path / "home", code_settings(**DEMO))
        assert (source.kind, source.commit, source.ref) == ("distribution", "v1.2.0", "v1.2.0")
        assert source.licence == "Apache-2.0"
        assert set(source.subtrees) == {"google/demo_adk", "one", "ns/two", "single.py"}
        names = ("google/demo_adk/tool.py", "ns/two/__init__.py", "one/a.py", "single.py")
        assert [file.path for file in discover(source, code_settings()).files] == [f"src/{name}" for name in names]

    def test_several_at_once_unpack_it_once(self, tmp_path: Path) -> None:
        wheel = make_wheel(tmp_path)
        with ThreadPoolExecutor(8) as pool:
            opened = [pool.submit(open_wheel, wheel, tmp_path / "home", code_settings(**DEMO)) for _ in range(8)]
        assert len({(one.result().root, one.result().root.stat().st_mtime_ns) for one in opened}) == 1
        assert {path.name for path in (tmp_path / "home").iterdir()} == {"demo-adk-1.2.0", ".demo-adk-1.2.0.lock"}

    @pytest.mark.parametrize("name", ["../evil.py", "/evil.py", "google/../../evil.py"])
    def test_a_wheel_does_not_reach_outside(self, tmp_path: Path, name: str) -> None:
        wheel = make_wheel(tmp_path / "wheels", more={name: "evil"})
        source = open_wheel(wheel, tmp_path / "home", code_settings(**DEMO))
        assert all(path.is_relative_to(source.root) for path in tmp_path.rglob("evil.py"))
        assert not Path("/evil.py").exists()
        assert [file.path for file in discover(source, code_settings()).files] == ["src/google/demo_adk/tool.py"]

    @pytest.mark.parametrize("damage", ["not a zip", "wrong name", "no metadata", "missing"])
    def test_a_damaged_wheel_is_refused(self, tmp_path: Path, damage: str) -> None:
        wheel = make_wheel(tmp_path)
        if damage == "not a zip":
            wheel.write_bytes(b"PK\x03\x04 and no more")
        elif damage == "wrong name":
            wheel = wheel.rename(tmp_path / "demo.whl")
        elif damage == "missing":
            wheel.unlink()
        else:
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr("google/demo_adk/a.py", "a = 1")
        with pytest.raises(SourceError):
            open_wheel(wheel, tmp_path / "home", code_settings(**DEMO))

    def test_without_a_pin_the_version_is_the_registrys(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        make_wheel(tmp_path / "wheels", "1.2.0")
        make_wheel(tmp_path / "wheels", "1.3.0")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
        source = open_registry(
            Requirement("demo-adk>=1"), tmp_path / "home", code_settings(**DEMO), notify=lambda _: None
        )
        assert (source.commit, source.root.name) == ("v1.3.0", "demo-adk-1.3.0")

    @pytest.mark.parametrize("index", ["https://me:secret@index.invalid/simple", None])
    def test_an_index_that_cannot_be_reached_is_named_with_the_proxy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead_proxy: str, index: str | None
    ) -> None:
        for name in ("PIP_NO_INDEX", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
            monkeypatch.delenv(name, raising=False)
        if index:
            monkeypatch.setenv("PIP_INDEX_URL", index)
        with pytest.raises(SourceError) as caught:
            open_registry(Requirement("demo-adk==1"), tmp_path, code_settings(**DEMO), notify=lambda _: None)
        host = "index.invalid" if index else "pypi.org"
        assert f"{host} cannot be reached through the proxy {dead_proxy} (Connection refused)" in caught.value.message
        assert "HTTPS_PROXY" in (caught.value.hint or "") and "secret" not in str(caught.value)

    def test_where_it_was_installed_from_decides_its_commit_and_its_files(self, tmp_path: Path, checkout: Path) -> None:
        def installed(**direct: object) -> CorpusSource:
            home = tmp_path / f"home{len(list(tmp_path.iterdir()))}"
            wheel = make_wheel(tmp_path, more={"demo_adk-1.2.0.dist-info/direct_url.json": json.dumps(direct)})
            return open_wheel(wheel, home, code_settings(**DEMO))

        of_commit = installed(url="https://example.org/x.git", vcs_info={"vcs": "git", "commit_id": COMMIT})
        assert (of_commit.kind, of_commit.commit) == ("distribution", COMMIT)
        editable = installed(url=checkout.as_uri(), dir_info={"editable": True})
        assert (editable.kind, editable.root) == ("git", checkout.resolve())

    def test_the_distribution_of_another_interpreter_is_found(self, tmp_path: Path) -> None:
        environment = tmp_path / "env"
        venv.create(environment, with_pip=False, symlinks=sys.platform != "win32")
        (python,) = [path for path in (environment / "bin/python", environment / "Scripts/python.exe") if path.exists()]
        packages = next(environment.rglob("site-packages"))
        with zipfile.ZipFile(make_wheel(tmp_path)) as archive:
            archive.extractall(packages)
        (packages / "google/neighbour").mkdir()
        (packages / "google/neighbour/x.py").write_text("not = 'ours'\n")
        source = open_installed(Requirement("demo-adk"), code_settings(**DEMO), python)
        assert source.commit == "v1.2.0"
        assert [file.path for file in discover(source, code_settings()).files] == ["src/google/demo_adk/tool.py"]
        assert open_installed(Requirement("demo-adk"), code_settings(**DEMO), environment) == source
        with pytest.raises(SourceError, match="not as"):
            open_installed(Requirement("demo-adk==2"), code_settings(**DEMO), python)
        with pytest.raises(SourceError, match="not installed in"):
            open_installed(Requirement("missing-adk"), code_settings(**DEMO), environment)


@pytest.fixture
def home_settings(tmp_path: Path) -> Settings:
    """Settings whose distribution cannot be had and whose repositories cannot be reached."""
    overrides = {"home": str(tmp_path / "home"), "ingestion": {"corpora": {"adk_python": DEMO}}}
    return load_settings(overrides, user_file=tmp_path / "none.yaml")


def snapshot(folder: Path, corpus: str = "adk_docs") -> Path:
    folder.mkdir(parents=True)
    manifest = {"corpus": corpus, "repo": f"google/{folder.name}", "commit": COMMIT}
    (folder / "corpus.json").write_text(json.dumps(manifest))
    return folder


class TestResolvingDocs:
    def resolve(self, settings: Settings, explicit: str | None = None, **options: Any) -> Any:
        return resolve_docs(settings, explicit, **{"allow_network": True, "notify": lambda _: None, **options})

    def test_the_named_folder_is_the_only_place_and_the_variable_comes_before_the_root(
        self, tmp_path: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        snapshot(tmp_path / "home/corpora/adk-docs")
        mine, named = snapshot(tmp_path / "mine"), snapshot(tmp_path / "named")
        monkeypatch.setenv("ADK_EVIDENCE_DOCS", str(named))
        assert self.resolve(home_settings).source.root == named
        assert self.resolve(home_settings, str(mine)).source.root == mine
        with pytest.raises(SourceError, match="does not exist"):
            self.resolve(home_settings, str(tmp_path / "missing"))

    def test_without_any_place_there_is_none_and_it_says_why(
        self, tmp_path: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ADK_EVIDENCE_DOCS", str(tmp_path / "missing"))
        found = self.resolve(home_settings)
        assert found.source is None
        assert "ADK_EVIDENCE_DOCS" in found.notices[0]
        assert "cannot be reached" in found.notices[1]
        found = self.resolve(home_settings, allow_network=False)
        (last,) = found.notices[1:]
        assert last.startswith("No source of google/adk-docs could be had. Name") and "ADK_EVIDENCE_DOCS" in last

    def test_a_clone_that_was_made_before_is_brought_up_to_date_and_a_users_own_is_not(
        self, tmp_path: Path, checkout: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def clone(_: str, destination: Path, **options: Any) -> None:
            clone_or_update(checkout.as_uri(), destination, **options)

        monkeypatch.setattr("adk_ingest.sources.resolve.clone_or_update", clone)
        first = self.resolve(home_settings).source
        git(checkout, "commit", "--quiet", "--allow-empty", "-m", "second")
        newest = git(checkout, "rev-parse", "HEAD")
        assert self.resolve(home_settings, allow_network=False).source.commit == first.commit != newest
        assert self.resolve(home_settings).source.commit == newest
        git(first.root, "fetch", "--quiet", "--unshallow", "origin")
        git(checkout, "commit", "--quiet", "--allow-empty", "-m", "third")
        assert self.resolve(home_settings).source.commit == newest

    def test_an_old_clone_serves_where_the_new_cannot_be_had(self, tmp_path: Path, checkout: Path) -> None:
        git(tmp_path, "clone", "--quiet", str(checkout), "home/corpora/adk-docs")
        said: list[str] = []
        elsewhere = {"ingestion": {"corpora": {"adk_docs": {"root": "elsewhere"}}}}
        settings = load_settings({"home": str(tmp_path / "home"), **elsewhere}, user_file=tmp_path / "none.yaml")
        found = self.resolve(settings, notify=said.append)
        assert found.source.commit == git(checkout, "rev-parse", "HEAD")
        assert "clone from before" in said[-1]


class TestResolvingCode:
    def resolve(self, settings: Settings, explicit: str | None = None, **options: Any) -> Any:
        return resolve_code(settings, explicit, **{"allow_network": True, "notify": lambda _: None, **options})

    def test_the_root_comes_first_then_what_is_installed(
        self, tmp_path: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with zipfile.ZipFile(make_wheel(tmp_path)) as archive:
            archive.extractall(tmp_path / "site")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        assert self.resolve(home_settings, allow_network=False).source.root == (tmp_path / "site").resolve()
        root = tmp_path / "home/corpora/adk-python"
        root.mkdir(parents=True)
        found = self.resolve(home_settings, allow_network=False)
        assert found.source.kind == "distribution"
        assert "neither a git checkout nor a snapshot" in found.notices[0]
        root.rmdir()
        snapshot(root, "adk_python")
        assert self.resolve(home_settings).source.root == root

    def test_the_distribution_is_downloaded_by_the_users_own_installer_and_then_needs_no_network(
        self, tmp_path: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_FIND_LINKS", str(make_wheel(tmp_path / "wheels").parent))
        said: list[str] = []
        assert self.resolve(home_settings, allow_network=False, notify=said.append).source is None
        for network in (True, True, False):
            source = self.resolve(home_settings, allow_network=network, notify=said.append).source
            assert (source.commit, source.root.name) == ("v1.2.0", "demo-adk-1.2.0")
        assert said == ["Downloading demo-adk==1.2.0 from the package registry"]

    def test_a_wheel_a_version_or_a_checkout_can_be_named(
        self, tmp_path: Path, checkout: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wheel = make_wheel(tmp_path / "wheels", "1.3.0")
        monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
        assert self.resolve(home_settings, str(wheel)).source.commit == "v1.3.0"
        assert self.resolve(home_settings, "demo-adk==1.3.0").source.commit == "v1.3.0"
        assert self.resolve(home_settings, str(checkout)).source.kind == "git"

    @pytest.mark.parametrize(
        ("named", "why"),
        [
            ("banana", "There is no release, folder or wheel called"),
            ("other==1.0", "There is no release, folder or wheel called"),
            ("demo-adk @ file:///x", "does not exist"),
            ("folder/that/is/not", "does not exist"),
            ("demo-adk==1.3.0", r"demo-adk==1\.3\.0 is not on this machine, and the network is off"),
            (".", r"neither a git checkout nor a snapshot with a corpus\.json"),
            ("other-1.0-py3-none-any.whl", "is not a wheel of demo-adk"),
            ("notes.txt", "neither a folder, a wheel nor a Python interpreter"),
        ],
    )
    def test_what_cannot_be_used_is_refused_with_the_reason(
        self, tmp_path: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch, named: str, why: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("notes.txt", "other-1.0-py3-none-any.whl"):
            (tmp_path / name).write_bytes(b"")
        with pytest.raises(SourceError, match=why) as refused:
            self.resolve(home_settings, named, allow_network=False)
        assert "settings" not in refused.value.hint

    @pytest.mark.parametrize("named", ["", " "])
    def test_an_empty_path_is_not_the_working_folder(
        self, checkout: Path, home_settings: Settings, monkeypatch: pytest.MonkeyPatch, named: str
    ) -> None:
        monkeypatch.chdir(checkout)
        for resolve in (resolve_code, resolve_docs):
            with pytest.raises(SourceError, match="is empty"):
                resolve(home_settings, named, allow_network=False, notify=lambda said: None)
