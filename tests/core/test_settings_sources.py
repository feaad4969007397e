"""No value of any setting, in the environment or in a file, does more than a sentence that names its place."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from adk_evidence import settings as module
from adk_evidence.errors import SettingsError
from adk_evidence.paths import config_file, default_home
from adk_evidence.settings import PROFILES, Settings, load_settings
from adk_evidence.settings_sources import read_file
from adk_evidence_lsp.server import EvidenceServer
from adk_evidence_lsp.wire import to_json_rpc

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NASTY = ["x", "-1", "0", "1e400", "nan", "[", "{}", "[[]]", "true", "null", " ", ",", "9" * 5000, "[" * 3000, "é"]
NASTY += ["\udcff", "~nosuchuser/x", "/dev/null", "a,b", '{"a": "\\ud800"}', "2024-99-99", "http://[", "${HOME}"]


def fields(
    model: type[BaseModel], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], type[BaseModel], Any]]:
    """Every setting: its path, its section and its type."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from fields(field.annotation, (*path, name))
        else:
            yield (*path, name), model, field.annotation


FIELDS = list(fields(Settings))
SECTIONS = sorted({path[:depth] for path, _, _ in FIELDS for depth in range(1, len(path))})


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("ADK_EVIDENCE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(module, "user_settings_file", lambda: tmp_path / "none.yaml")


def name_of(path: tuple[str, ...]) -> str:
    return "ADK_EVIDENCE_" + "__".join(path).upper()


def nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for part in reversed(path):
        value = {part: value}
    return value


def problem(load: Callable[[], object] = load_settings) -> SettingsError | None:
    """What loading complains about, if anything; every other exception fails the test."""
    try:
        load()
    except SettingsError as exc:
        assert exc.hint and "\n" not in exc.message and len(exc.message) < 400
        assert "Input" not in exc.message and "Settings" not in exc.message
        return exc
    return None


def test_every_wrong_variable_is_named_with_what_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for path, _, annotation in FIELDS:
        if annotation is str or "Path" in str(annotation) or annotation == (str | None):
            continue
        with monkeypatch.context() as patch:
            patch.setenv(name_of(path), "[[]]")
            found = problem()
        assert found is not None, path
        assert name_of(path) in found.message or path == ("profile",), found.message


def test_every_wrong_value_of_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    for path in [*(path for path, _, _ in FIELDS), *SECTIONS]:
        mine.write_text(yaml.safe_dump(nested(path, [[]])))
        found = problem(lambda: load_settings(user_file=mine))
        assert found is not None, path
        assert str(mine) in found.message, found.message
        assert ".".join(path) in found.message or path == ("profile",), found.message


@settings(max_examples=120)
@given(st.sampled_from([path for path, _, _ in FIELDS] + SECTIONS), st.sampled_from(NASTY) | st.text(max_size=20))
def test_no_variable_breaks_the_start(path: tuple[str, ...], value: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        try:
            patch.setenv(name_of(path), value)
        except (ValueError, UnicodeEncodeError):
            return  # no environment can hold this
        problem(lambda: load_settings().paths)


YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.dates() | st.binary(max_size=5) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=120)
@given(st.sampled_from([(), *(path for path, _, _ in FIELDS), *SECTIONS]), YAML_VALUES | st.sampled_from(NASTY))
def test_no_file_of_yaml_breaks_the_start(tmp_path_factory: pytest.TempPathFactory, path: tuple[str, ...], value: Any):
    mine = tmp_path_factory.mktemp("yaml") / "mine.yaml"
    mine.write_text(yaml.safe_dump(nested(path, value), allow_unicode=False))
    problem(lambda: load_settings(user_file=mine).paths)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [", "line 1"),
        (b"- 1\n", "mapping"),
        (b"text", "mapping"),
        (b"3: 4", "key"),
        (b"? [1]\n: 2", "YAML"),
        (b"a: 2024-99-99", "YAML"),
        (b"a: " + b"9" * 5000, "YAML"),
        (b"[" * 5000, "YAML"),
        (b"\x00", "YAML"),
        (b"a: !!python/object:os.system x", "YAML"),
        (b"\xff\xfea\x00", "UTF-8"),
        (b"home: \xe9", "UTF-8"),
        (b"#" * 1_000_001, "too large"),
        (b"retreival: {}", "retrieval"),
        (b"retrieval: {rrf_kk: 1}", "rrf_k"),
        (b"retrieval: []", "mapping"),
        (b"home: ''", "path"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_bytes(content)
    found = problem(lambda: load_settings(user_file=mine))
    assert found is not None and str(mine) in found.message and said in found.message


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbfretrieval: {}", b"# nothing\n", b"---\n", b"{}"])
def test_a_file_that_says_nothing_changes_nothing(tmp_path: Path, content: bytes) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_bytes(content)
    assert load_settings(user_file=mine) == load_settings()


def test_an_empty_section_hides_no_default_of_a_section_that_is_set_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("store:\nretrieval:\n")
    monkeypatch.setenv("ADK_EVIDENCE_STORE__KIND", "server")
    found = load_settings({"retrieval": {"rrf_k": 7}}, user_file=mine)
    assert found == load_settings({"store": {"kind": "server"}, "retrieval": {"rrf_k": 7}})


@pytest.mark.parametrize("name", ["settings.yaml", *(f"profiles/{profile}.yaml" for profile in PROFILES)])
def test_what_ships_is_read_alike_by_both_parsers(name: str) -> None:
    assert read_file(config_file(name), shipped=True) == read_file(config_file(name)) != {}


def test_a_folder_or_a_link_to_nothing_is_no_settings_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "none.yaml").mkdir()
    found = problem()
    assert found is not None and "directory" in found.message
    (tmp_path / "none.yaml").rmdir()
    (tmp_path / "none.yaml").symlink_to(tmp_path / "gone")
    assert problem() is not None
    monkeypatch.setenv("ADK_EVIDENCE_SETTINGS", "~nosuchuser/x.yaml")
    found = problem()
    assert found is not None and "ADK_EVIDENCE_SETTINGS" in found.message


@pytest.mark.parametrize("written", ["dense,sparse", " dense , sparse ", '["dense", "sparse"]'])
def test_a_list_may_be_written_with_commas(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("ADK_EVIDENCE_RETRIEVAL__BRANCHES", written)
    assert load_settings().retrieval.branches == ("dense", "sparse")
    monkeypatch.setenv("ADK_EVIDENCE_INGESTION__BATCHING__VOYAGE_RETRY_BACKOFF_SECONDS", "0.5,3")
    assert load_settings().ingestion.batching.voyage_retry_backoff_seconds == (0.5, 3)


def test_null_in_a_variable_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADK_EVIDENCE_RETRIEVAL__LANGUAGE", "null")
    assert load_settings().retrieval.language is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RETREIVAL__RRF_K", "there is retrieval"),
        ("RETRIEVAL__RRF_KK", "there is rrf_k"),
        ("RETRIEVAL_RRF_K", "ADK_EVIDENCE_RETRIEVAL_RRF_K"),
        ("HOME__X", "ADK_EVIDENCE_HOME__X"),
        ("HOEM", "ADK_EVIDENCE_HOEM names no setting"),
        ("PROFIL", "ADK_EVIDENCE_PROFIL names no setting"),
        ("SETTING", "ADK_EVIDENCE_SETTING names no setting"),
        ("RETRIEVAL__BRANCHES__0", "ADK_EVIDENCE_RETRIEVAL__BRANCHES__0"),
        ("__", "ADK_EVIDENCE___"),
    ],
)
def test_a_misspelt_variable_is_not_ignored(monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    monkeypatch.setenv(f"ADK_EVIDENCE_{name}", "1")
    found = problem()
    assert found is not None and said in found.message


def test_variables_that_are_no_settings_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DOCS", "PYTHON", "QDRANT_API_KEY", "LLM_API_KEY", "TEST_SETTINGS", "MY_HOME", "SOMETHING_ELSE"):
        monkeypatch.setenv(f"ADK_EVIDENCE_{name}", "x")
    assert problem() is None


def test_a_user_without_a_home_folder_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *args, **more: "~/.local/share/adk-evidence")
    with pytest.raises(SettingsError, match="no home folder"):
        default_home()


def test_an_editor_gets_the_sentence_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADK_EVIDENCE_RETRIEVAL__BRANCHES", "notjson")
    with pytest.raises(SettingsError) as caught:
        EvidenceServer().desk.load()
    assert "ADK_EVIDENCE_RETRIEVAL__BRANCHES" in to_json_rpc(caught.value).message


def test_every_setting_is_read_by_something() -> None:
    files = [*(ROOT / "server").rglob("*.py"), *(ROOT / "ingest").rglob("*.py")]
    read = {name for file in files for name in re.findall(r"\.(\w+)\b", file.read_text())}
    dead = sorted(".".join(path) for path, _, _ in FIELDS if path[-1] not in read)
    assert not dead, f"These settings are read by nothing: {', '.join(dead)}"
