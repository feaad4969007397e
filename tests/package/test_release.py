"""What a release is held to: the workflow's own text, and the check that it runs first."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
NODE = shutil.which("node")

# Where something leaves the repository: the environment that waits for a person, and what opens the door.
PUBLISHERS = {"marketplace": "VSCE_PAT", "open-vsx": "OVSX_PAT", "pypi": None}
ADDRESS = "https://github.com/somebody/evidence"

needs_node = pytest.mark.skipif(NODE is None, reason="the script needs Node, which is not on PATH")


def workflow(name: str) -> dict[str, Any]:
    text = (WORKFLOWS / name).read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    # YAML 1.1 takes the key `on` for a truth value.
    loaded["on"] = loaded.pop(True)
    return loaded


@pytest.fixture(scope="module")
def release() -> dict[str, Any]:
    return workflow("release.yml")


def steps(job: dict[str, Any]) -> list[dict[str, Any]]:
    return job.get("steps", [])


def needed(jobs: dict[str, Any], name: str) -> set[str]:
    """The jobs that have ended well before a job starts."""
    direct = jobs[name].get("needs", [])
    direct = [direct] if isinstance(direct, str) else direct
    return {*direct, *(further for one in direct for further in needed(jobs, one))}


class TestWorkflow:
    def test_it_is_started_by_a_tag_of_a_version_alone(self, release: dict[str, Any]) -> None:
        assert release["on"] == {"push": {"tags": ["v*"]}}

    def test_nothing_is_published_before_the_checks_and_every_test_have_passed(self, release: dict[str, Any]) -> None:
        for name in PUBLISHERS:
            assert needed(release["jobs"], name) == {"check", "test", "build"}
        assert release["jobs"]["test"]["uses"] == "./.github/workflows/ci.yml"
        (*_, run) = [step["run"] for step in steps(workflow("ci.yml")["jobs"]["test"]) if "run" in step]
        assert run == ".ci/run"

    def test_what_publishes_waits_in_an_environment(self, release: dict[str, Any]) -> None:
        publishing = re.compile(r"\bvsce publish\b|/ovsx\" publish\b|pypi-publish|twine|npm publish")
        for name, job in release["jobs"].items():
            publishes = any(publishing.search(f"{step.get('run', '')} {step.get('uses', '')}") for step in steps(job))
            assert publishes == (name in PUBLISHERS), name
            assert job.get("environment") == (name if name in PUBLISHERS else None)

    def test_an_environment_without_a_reviewer_stops_the_release(self, release: dict[str, Any]) -> None:
        (guard,) = [step["run"] for step in steps(release["jobs"]["check"]) if "environments/" in step.get("run", "")]
        assert re.search(r"for name in (.+);", guard)[1].split() == list(PUBLISHERS)  # type: ignore[index]
        assert "required_reviewers" in guard
        assert "exit 1" in guard

    def test_each_secret_reaches_one_step_that_does_not_print(self, release: dict[str, Any]) -> None:
        used = []
        for name, job in release["jobs"].items():
            assert "secrets." not in json.dumps({key: value for key, value in job.items() if key != "steps"})
            for step in steps(job):
                assert "secrets." not in json.dumps({key: value for key, value in step.items() if key != "env"})
                for variable, value in step.get("env", {}).items():
                    if "secrets." in value:
                        assert value == f"${{{{ secrets.{variable} }}}}"
                        assert variable not in step["run"], "a command line is shown, and in the list of processes"
                        assert not re.search(r"\b(echo|printf|printenv|env|set -x|tee|cat)\b", step["run"])
                        used.append((name, variable))
        assert used == [(name, secret) for name, secret in PUBLISHERS.items() if secret]

    @pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
    def test_no_expression_becomes_part_of_a_script(self, name: str) -> None:
        for job in workflow(name)["jobs"].values():
            assert not [step["run"] for step in steps(job) if "${{" in step.get("run", "")]

    def test_a_job_may_do_what_it_needs_and_no_more(self, release: dict[str, Any]) -> None:
        assert release["permissions"] == {}
        assert workflow("ci.yml")["permissions"] == {"contents": "read"}
        allowed = {name: job.get("permissions", {}) for name, job in release["jobs"].items()}
        writes = {name: {right for right, how in rights.items() if how == "write"} for name, rights in allowed.items()}
        assert {name: rights for name, rights in writes.items() if rights} == {
            "build": {"attestations", "id-token"},
            "pypi": {"id-token"},
        }

    @pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
    def test_actions_are_named_by_a_version_and_leave_no_token_behind(self, name: str) -> None:
        for job in workflow(name)["jobs"].values():
            for step in steps(job):
                if (action := step.get("uses")) is None:
                    continue
                assert re.fullmatch(r"[\w.-]+/[\w./-]+@(?:v\d+|release/v1|[0-9a-f]{40})", action), action
                if action.startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False

    def test_what_is_published_is_what_was_built_and_attested(self, release: dict[str, Any]) -> None:
        build = steps(release["jobs"]["build"])
        (attested,) = [step["with"]["subject-path"].split() for step in build if "attest" in step.get("uses", "")]
        uploads = {step["with"]["name"]: step["with"]["path"] for step in build if "upload" in step.get("uses", "")}
        assert sorted(uploads.values()) == sorted(attested)
        for name in PUBLISHERS:
            job = steps(release["jobs"][name])
            (taken,) = [step["with"]["name"] for step in job if "download-artifact" in step.get("uses", "")]
            assert taken == ("python" if name == "pypi" else "vsix")
            assert not any("npm run package" in step.get("run", "") for step in job)


@needs_node
class TestCheck:
    FILES = ("package.json", "package-lock.json", "pyproject.toml", "CHANGELOG.md", "server/adk_evidence/__init__.py")

    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Iterator[Path]:
        """What the check reads, ready to be released as the version that the repository has."""
        for name in (*self.FILES, ".ci/release.mjs", ".ci/setup.mjs"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
        changelog = tmp_path / "CHANGELOG.md"
        sections = f"## [{self.version()}] - 2026-01-31\n\n- All of it.\n\n## [0.0.1] - 2025-01-01\n"
        changelog.write_text(f"# Changelog\n\n## [Unreleased]\n\n{sections}", encoding="utf-8")
        assert self.release(tmp_path, "address", ADDRESS).returncode == 0
        yield tmp_path

    @staticmethod
    def version() -> str:
        return json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["version"]

    @staticmethod
    def release(root: Path, *args: str) -> subprocess.CompletedProcess[str]:
        line = [str(NODE), ".ci/release.mjs", *args]
        return subprocess.run(line, cwd=root, capture_output=True, text=True, check=False, timeout=60)

    def test_a_checkout_of_which_all_agrees_may_be_released(self, checkout: Path) -> None:
        said = self.release(checkout, "check", "--tag", f"v{self.version()}", "--repository", ADDRESS)
        assert (said.returncode, said.stderr) == (0, "")

    @pytest.mark.parametrize(
        ("file", "old", "new", "sentence"),
        [
            ("pyproject.toml", 'version = "{}"', 'version = "9.9.9"', r"pyproject\.toml has the version 9\.9\.9"),
            ("server/adk_evidence/__init__.py", '"{}"', '"9.9.9"', r"__init__\.py has the version 9\.9\.9"),
            ("CHANGELOG.md", "] - 2026-01-31", "]", r"gives no date"),
            ("CHANGELOG.md", "- All of it.", "", r"says nothing of"),
            ("package.json", f"{ADDRESS}/issues", "https://github.com/other/evidence/issues", r"is not of"),
        ],
    )
    def test_what_does_not_agree_is_named(self, checkout: Path, file: str, old: str, new: str, sentence: str) -> None:
        path = checkout / file
        text = path.read_text(encoding="utf-8")
        wanted = old.format(self.version()) if "{}" in old else old
        assert wanted in text
        path.write_text(text.replace(wanted, new, 1), encoding="utf-8")
        said = self.release(checkout, "check")
        assert said.returncode == 1
        assert re.search(sentence, said.stderr), said.stderr

    def test_a_tag_of_another_version_and_another_repository_are_named(self, checkout: Path) -> None:
        said = self.release(checkout, "check", "--tag", "v9.9.9", "--repository", "https://github.com/fork/evidence")
        assert said.returncode == 1
        assert "The tag is v9.9.9" in said.stderr
        assert "https://github.com/fork/evidence" in said.stderr

    def test_an_address_that_nobody_has_chosen_is_refused(self, checkout: Path) -> None:
        for name in ("package.json", "pyproject.toml"):
            text = (checkout / name).read_text(encoding="utf-8")
            (checkout / name).write_text(text.replace(ADDRESS, "https://repository.invalid/x"), encoding="utf-8")
        said = self.release(checkout, "check")
        assert said.returncode == 1
        assert "repository.invalid" in said.stderr
        for address in ("http://github.com/a/b", "https://example.org/a", 'https://github.com/a/b"', "x"):
            assert self.release(checkout, "address", address).returncode != 0

    def test_versions_and_addresses_of_the_repository_itself_agree(self) -> None:
        said = self.release(ROOT, "check")
        assert "is not of" not in said.stderr and "has the version" not in said.stderr
