"""What `pip install` gives a user: the built wheel, looked at and run without the checkout."""

from __future__ import annotations

import configparser
import email
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    "adk_evidence",
    "adk_evidence_agents",
    "adk_evidence_cli",
    "adk_evidence_console",
    "adk_evidence_eval",
    "adk_evidence_lsp",
    "adk_evidence_mcp",
    "adk_ingest",
)
# Golden sets that only developers of this project ask for.
DEVELOPERS_FILES = {f"golden/{name}.jsonl" for name in ("howto", "names", "selections", "tracebacks")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


@pytest.fixture(scope="module")
def unpacked(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    wheel.extractall(folder)
    return folder


def metadata_file(wheel: zipfile.ZipFile, name: str) -> str:
    (found,) = (entry for entry in wheel.namelist() if entry.endswith(f".dist-info/{name}"))
    return wheel.read(found).decode("utf-8")


def test_the_page_of_a_registry_has_no_link_that_leads_nowhere_from_there(wheel: zipfile.ZipFile) -> None:
    metadata = email.message_from_string(metadata_file(wheel, "METADATA"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = metadata.get_payload()
    assert isinstance(page, str)
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", outside)
    assert [target for target in targets if not target.startswith(("https://", "#"))] == []
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    at_tag = re.compile(rf"{re.escape(urls['Repository'])}/(raw|blob)/v{re.escape(metadata['Version'])}/(.+)")
    places = [match.groups() for target in targets if (match := at_tag.fullmatch(target))]
    assert ("raw", "extension/pictures/recording.webp") in places
    assert ("blob", "CONTRIBUTING.md") in places
    assert all((ROOT / path.partition("#")[0]).exists() for _, path in places)
    titles = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    anchors = {"#" + re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    assert {target for target in targets if target.startswith("#")} <= anchors


def run_installed(unpacked: Path, code: str) -> str:
    """Run code that sees the unpacked wheel but neither the checkout nor its working directory."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ADK_EVIDENCE_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=unpacked,
        env={**environment, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_wheel_holds_every_module_of_the_packages(wheel: zipfile.ZipFile) -> None:
    modules = {
        path.relative_to(parent).as_posix()
        for parent in (ROOT / "server", ROOT / "ingest")
        for package in PACKAGES
        for path in (parent / package).rglob("*.py")
    }
    assert modules <= set(wheel.namelist())


def test_the_wheel_holds_the_config_folder_as_it_is_without_the_files_of_developers(wheel: zipfile.ZipFile) -> None:
    config, inside = ROOT / "config", "adk_evidence/_config/"
    files = {path.relative_to(config).as_posix(): path for path in config.rglob("*") if path.is_file()}
    packed = {name.removeprefix(inside) for name in wheel.namelist() if name.startswith(inside)}
    assert packed == files.keys() - DEVELOPERS_FILES
    assert files.keys() >= DEVELOPERS_FILES
    for name in packed:
        assert wheel.read(inside + name) == files[name].read_bytes()


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    for entry in map(PurePosixPath, wheel.namelist()):
        assert entry.parts[0] in PACKAGES or entry.parts[0].endswith(".dist-info"), entry
        assert not {"__pycache__", "tests", "node_modules"} & set(entry.parts), entry
        assert entry.suffix not in {".pyc", ".pyo"}, entry
        assert not any(part.startswith(".") for part in entry.parts), entry


def test_an_installed_copy_reads_its_own_settings(unpacked: Path) -> None:
    code = (
        "from adk_evidence.paths import config_file\n"
        "from adk_evidence.settings import PROFILES\n"
        "for name in ['settings.yaml', *(f'profiles/{profile}.yaml' for profile in PROFILES)]:\n"
        "    print(config_file(name))"
    )
    for line in run_installed(unpacked, code).splitlines():
        assert Path(line).resolve().is_relative_to(unpacked.resolve())


@pytest.mark.parametrize("script", ["adk-evidence", "adk-ingest"])
def test_the_console_scripts_point_at_functions(wheel: zipfile.ZipFile, unpacked: Path, script: str) -> None:
    scripts = configparser.ConfigParser()
    scripts.read_string(metadata_file(wheel, "entry_points.txt"))
    module, function = scripts["console_scripts"][script].split(":")
    assert run_installed(unpacked, f"import {module}; print(callable({module}.{function}))") == "True"
