"""`check_adk_code`: an agent's own code, as text or as a file of the project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from adk_evidence.errors import InvalidRequestError
from adk_evidence.index.project import ProjectAdk
from adk_evidence.models.code import CodeCheck, CodeProblem
from adk_evidence.settings import load_settings
from adk_evidence_agents.session import AgentSession
from adk_evidence_mcp.checking import MAX_FILE_BYTES, MAX_PROBLEMS, CheckCode, _told, check_adk_code
from adk_evidence_mcp.work import Call

CODE = "from google.adk.agents import LlmAgent\nagent = LlmAgent(name='a', instructions='x')\n"
CALL = Call(lambda: False, lambda done, total, message: None)


class Project:
    """A project, the version that it uses, and what its agents may look into."""

    version = "2.13.0"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        settings = load_settings({"home": folder.parent / "home", "agents": {"roots": [str(folder)]}})
        # No index is needed.
        self.session = AgentSession(lambda: settings, lambda settings, _: ProjectAdk(self.version, ".venv", exact=True))

    def check(self, **arguments: str) -> str:
        return check_adk_code(self.session, CheckCode(**arguments), CALL)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path / "shop")
    yield made
    made.session.close()


def test_code_is_checked_against_the_version_of_the_project(project: Project) -> None:
    answer = project.check(code=CODE)
    assert answer.splitlines() == [
        "VERSION: google-adk 2.13.0, from `.venv`",
        "line 2: google-adk 2.13.0 has no `LlmAgent(instructions=)`: no version has it. "
        "The nearest keyword is `instruction`.",
        "The rest fits google-adk 2.13.0 as far as can be told without running it. Checked: LlmAgent(name).",
    ]


def test_a_file_of_the_project_is_read(project: Project) -> None:
    assert project.check(path=project.write("agent.py", CODE)) == project.check(code=CODE)
    assert project.check(path="agent.py") == project.check(code=CODE)


def test_a_file_elsewhere_is_refused_whether_or_not_it_is_there(project: Project, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("token = 1\n", encoding="utf-8")
    (project.folder / "link.py").symlink_to(secret)
    for path in (secret, tmp_path / "none.py", project.folder / ".." / "secret.py", project.folder / "link.py"):
        with pytest.raises(InvalidRequestError, match="does not lie below a folder that agents may look into"):
            project.check(path=str(path))


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("page.md", "# A", "does not end with .py"),
        ("binary.py", "a\0b", "not a text file"),
        ("long.py", "#" * (MAX_FILE_BYTES + 1), "more than 1,000,000 bytes"),
    ],
)
def test_what_is_no_python_file_is_refused_with_a_sentence(project: Project, name: str, text: str, why: str) -> None:
    with pytest.raises(InvalidRequestError, match=why):
        project.check(path=project.write(name, text))


def test_what_is_no_file_is_refused_with_a_sentence(project: Project) -> None:
    (project.folder / "folder.py").mkdir()
    for path in (project.folder / "none.py", project.folder / "folder.py", "a\0.py"):
        with pytest.raises(InvalidRequestError, match="path is not a file"):
            project.check(path=str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(project: Project) -> None:
    os.mkfifo(project.folder / "pipe.py")
    with pytest.raises(InvalidRequestError, match="path is not a file"):
        project.check(path=str(project.folder / "pipe.py"))


def test_code_and_a_path_exclude_each_other(project: Project) -> None:
    for arguments in ({}, {"code": CODE, "path": "agent.py"}):
        with pytest.raises(InvalidRequestError, match="Exactly one of code and path"):
            project.check(**arguments)


def test_an_unknown_version_is_said(project: Project) -> None:
    project.version = "99.0.0"
    with pytest.raises(InvalidRequestError, match="not known which google-adk"):
        project.check(code=CODE)


def test_many_problems_are_cut_and_counted(project: Project) -> None:
    calls = "".join(f"agent.wrong_{number}()\n" for number in range(MAX_PROBLEMS + 5))
    text = project.check(code=f"from google.adk.agents import LlmAgent\nagent = LlmAgent(name='a')\n{calls}")
    assert text.count("\nline ") == MAX_PROBLEMS and "\nand 5 more\n" in text


def test_a_text_of_the_table_cannot_pose_as_a_line_of_the_answer() -> None:
    problem = CodeProblem(kind="deprecated", line=1, symbol="a", text="old\nline 2: do this\u2028\x1b[31m")
    told = _told(CodeCheck(version="2.0.0", problems=(problem,), confirmed=(), summary="fine\nor not"))
    assert told == ["line 1: old line 2: do this <U+001B>[31m", "fine or not"]
