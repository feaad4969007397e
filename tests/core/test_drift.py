"""What pages show and a version of the ADK lacks."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

from adk_evidence.api.history import History
from adk_evidence.api.lacks import find_lack
from adk_evidence.api.table import make_table
from adk_evidence.checks.corpus import files_of_folder, report_drift
from adk_evidence.checks.drift import MAX_LACKING_NAMES, Checked, DriftChecker, checker_for
from adk_evidence.documents.document import PythonDocument
from adk_evidence.errors import SourceError
from adk_evidence.readers.pages.markdown import code_blocks, read_markdown
from adk_evidence.readers.pages.snippets import snippets_of
from tests.corpora import git, write_checkout


@cache
def checker(version: str) -> DriftChecker:
    found = checker_for(version)
    assert found is not None
    return found


def check(text: str, version: str = "1.4.2", lang: str = "py", **included: str) -> Checked:
    read = {f"{name}.py": code for name, code in included.items()}.get
    return checker(version).check(snippets_of(text.split("\n"), lang, read))


def told(text: str, version: str = "1.4.2", lang: str = "py", **included: str) -> list[tuple[str, str, int]]:
    """The kind, the symbol without its package, and the line of each finding."""
    found = check(text, version, lang, **included).deviations
    return [(one.kind, one.symbol.removeprefix("google.adk."), one.first + 1) for one in found]


def test_an_import_is_told_with_the_version_that_brings_it_or_had_it_last() -> None:
    (found,) = check("from google.adk.agents import LlmAgent\nfrom google.adk.apps import App\n").deviations
    assert (found.kind, found.first, found.since, found.until) == ("import", 1, "1.14.0", None)
    assert found.text == "google-adk 1.4.2 has no `google.adk.apps.App`: it came in with 1.14.0."
    (found,) = check("from google.adk.apps.base_events_compactor import BaseEventsCompactor\n", "2.13.0").deviations
    assert (found.since, found.until) == (None, "1.15.1")


def test_each_name_of_a_statement_over_several_lines_has_its_own_line() -> None:
    text = "from google.adk.apps.app import (\n    App,\n    EventsCompactionConfig,\n)\nimport google.adk.apps\n"
    assert told(text) == [
        ("import", "apps.app.App", 2),
        ("import", "apps.app.EventsCompactionConfig", 3),
        ("import", "apps", 5),
    ]


def test_attributes_of_modules_and_methods_of_instances_are_checked() -> None:
    text = """\
from google.adk import agents
agents.LlmAgent, agents.ManagedAgent
from google.adk.runners import InMemoryRunner
async def main(other: InMemoryRunner):
    runner = InMemoryRunner(agent=None)
    await runner.run_debug("hi")
    await other.run_debug("hi")
    runner.run(user_id="u", session_id="s", nothing=1)
"""
    assert told(text) == [
        ("name", "agents.ManagedAgent", 2),
        ("name", "runners.InMemoryRunner.run_debug", 6),
        ("name", "runners.InMemoryRunner.run_debug", 7),
        ("keyword", "runners.InMemoryRunner.run(nothing=)", 8),
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "from google.adk.tools import LongRunningFunctionTool\nLongRunningFunctionTool(len).func.cache", id="value"
        ),
        pytest.param(
            "from google.adk.agents import LlmAgent\na = LlmAgent(name='a')\n[a.size for a in others]", id="other value"
        ),
        pytest.param(
            "from google.adk.agents import LlmAgent\na = LlmAgent(name='a')\nif hasattr(a, 'size'): a.size",
            id="asked for",
        ),
        pytest.param(
            "from google.adk.agents import LlmAgent\nLlmAgent.model_fields\nLlmAgent.__name__", id="of pydantic"
        ),
        pytest.param("from google.adk_community.memory import Other\nimport google.genai", id="other package"),
        pytest.param(
            "from google.adk.agents import LlmAgent\nwith LlmAgent(name='a') as entered:\n    entered.size", id="with"
        ),
        pytest.param(
            "from google.adk.agents import LlmAgent\n"
            "async def f():\n    async with LlmAgent(name='a') as entered:\n        entered.size",
            id="async with",
        ),
        pytest.param("from apps import App\nApp(name=1).run", id="no import"),
    ],
)
def test_what_is_not_sure_is_not_told(text: str) -> None:
    assert told(text) == []


def test_keywords_that_a_validator_reads_are_not_told() -> None:
    assert told("from google.adk import Event\nEvent(message='hi', route='next')\n", "2.13.0") == []


READING = "from google.adk.tools import ToolContext\nasync def read(context: ToolContext):\n"


@pytest.mark.parametrize(
    "body",
    [
        "  part = context.load_artifact('a')\n  return part.text",
        "  part = context.load_artifact('a')\n  if not part:\n    return None",
        "  context.save_artifact('a', None)",
        "  return context.load_artifact('a').text",
        "  return [name for name in context.list_artifacts()]",
        "  names: list = context.list_artifacts()\n  print(f'{names}')",
        "  if context.list_artifacts():\n    return",
        "  while not context.list_artifacts():\n    return",
        "  assert context.list_artifacts() == []",
        "  return context.list_artifacts() and 1",
        "  return 'a' in context.list_artifacts()",
        "  names = context.list_artifacts()\n  return 'a' in names",
        "  return len(context.list_artifacts())",
        "  first, second = context.list_artifacts()",
        "  return context.list_artifacts() + ['a']",
        "  return [1 for one in names if context.list_artifacts()]",
    ],
)
def test_a_call_of_an_asynchronous_function_without_await_is_told(body: str) -> None:
    ((kind, symbol, line),) = told(READING + body, "2.13.0")
    assert (kind, line) == ("await", 3) and symbol.startswith("tools.ToolContext.")


@pytest.mark.parametrize(
    "body",
    [
        "  part = await context.load_artifact('a')\n  return part.text",
        "  part = context.load_artifact('a')\n  return (await part).text",
        "  return context.load_artifact('a')",
        "  part = asyncio.run(context.load_artifact('a'))\n  return part.text",
        "  part = context.load_artifact('a')\n  wait = asyncio.create_task(part)\n  print(part.cr_code)",
        "  part = context.load_artifact('a')\n  part = await part\n  return part.text",
        "  part = context.load_artifact('a')\n  async def later():\n    return await part\n  print(part.cr_code)",
        "  return context.state.get('a')",
        "  part = context.load_artifact('a')\n  return cached or part",
        "  return cached and context.load_artifact('a')",
        "  return await (cached or context.load_artifact('a'))",
        "  def len(names): ...\n  return len(context.list_artifacts())",
        "  part = context.load_artifact('a')\n  return await (cached or part)",
        "  part = context.load_artifact('a')\n  if part in done:\n    return 1",
        "  part = context.load_artifact('a')\n  part.close()",
        "  return context.load_artifact('a').__await__()",
        "  part = context.load_artifact('a')\n  if part:\n    class T:\n      def f(self):\n        return wait(part)",
        "  part = context.load_artifact('a')\n  if part:\n    class T(metaclass=part):\n      pass",
        "  global part\n  part = context.load_artifact('a')\n  if part:\n    return 1",
        "  context.load_artifact = print\n  return context.load_artifact('a').text",
        "  run = lambda: part\n  part = context.load_artifact('a')\n  if part:\n    return run",
        # It does not parse: the line may be the end of another.
        "  part = context.load_artifact('a')\n  return part.text\n  and so on",
    ],
)
def test_what_may_be_awaited_elsewhere_is_not_told(body: str) -> None:
    assert [kind for kind, _, _ in told(READING + body, "2.13.0")] == []


SERVICES = """\
from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions import InMemorySessionService
service = InMemorySessionService()
"""


@pytest.mark.parametrize(
    "code",
    [
        "def f(runner: Runner):\n  runner.session_service.create_session(app_name='a')",
        "def f(context: InvocationContext):\n  context.memory_service.add_session_to_memory(None)",
        "def f():\n  service.create_session(app_name='a', user_id='u').id",
        "def f(own: BaseMemoryService | None):\n  memory = own or InMemoryMemoryService()\n  memory.search_memory()",
        "def f(own: BaseMemoryService = None):\n  own = own or InMemoryMemoryService()\n  own.search_memory()",
        "memory = InMemoryMemoryService() if service else None\nmemory.search_memory()",
        "if memory := InMemoryMemoryService():\n  memory.search_memory()",
        (
            "class A:\n  def __init__(self):\n    self.runner: Runner = InMemoryRunner()\n"
            "  def f(self):\n    self.runner.run_debug()"
        ),
        (
            "class A:\n  def __init__(self, own: Runner):\n    self.runner = own\n"
            "  def f(self):\n    self.runner.run_debug()"
        ),
        "class A:\n  runner: Runner\n  def f(self):\n    self.runner.run_debug()",
        "async def f(runner: Runner):\n  session = await service.get_session()\n  service.append_event(session)",
        "def f(tool_context):\n  tool_context.save_artifact('a', None)\nLlmAgent(tools=[f])",
        "def f(callback_context):\n  callback_context.save_artifact('a', None)\nLlmAgent(before_agent_callback=f)",
    ],
)
def test_objects_that_the_code_makes_or_reaches_are_known(code: str) -> None:
    assert [kind for kind, _, _ in told(SERVICES + code, "2.13.0")] == ["await"]


@pytest.mark.parametrize(
    "code",
    [
        "def f(own):\n  memory = own or InMemoryMemoryService()\n  memory.search_memory()",
        "def f(runner: Runner):\n  runner.session_service = Own()\n  runner.session_service.create_session()",
        "def f(runner: Runner):\n  runner.session_service.own()",
        (
            "class A:\n  def f(self):\n    self.runner = InMemoryRunner()\n"
            "    self.runner, b = own()\n    self.runner.run_debug()"
        ),
        (
            "class A:\n  def f(self):\n    self.runner = InMemoryRunner()\n"
            "    self.runner = own()\n    self.runner.run_debug()"
        ),
        "def f(tool_context):\n  tool_context.save_artifact('a', None)\nown(tools=[f])",
        "@own\ndef f(tool_context):\n  tool_context.save_artifact('a', None)\nLlmAgent(tools=[f])",
        "match own():\n  case service:\n    service.create_session()",
        "with patch.object(service, 'create_session'):\n  service.create_session()",
        "service.create_session = own\nservice.create_session('a', 'u')",
    ],
)
def test_objects_that_may_be_others_are_not_known(code: str) -> None:
    assert [kind for kind, _, _ in told(SERVICES + code, "2.13.0")] == []


def test_what_results_lack_is_told_unless_a_derived_class_may_have_it() -> None:
    code = (
        "async def f(runner: Runner, context: InvocationContext):\n"
        "  async for event in runner.run_async(user_id='u'):\n    event.is_error()\n"
        "  (await service.get_session()).events[-1].errors\n"
        "  for event in await runner.run_debug():\n    event.is_final_response()\n"
        "  context.agent.instruction\n"
    )
    assert told(SERVICES + code, "2.13.0") == [
        ("name", "events.event.Event.is_error", 9),
        ("name", "events.event.Event.errors", 10),
    ]


def test_generators_are_driven_by_hand_and_deep_code_is_read_in_time() -> None:
    code = "from google.adk.runners import InMemoryRunner\nevents = InMemoryRunner().run_async(user_id='u')\n"
    assert told(code + "first = await events.__anext__()", "2.13.0") == []
    assert [kind for kind, _, _ in told(code + "for event in events:\n  pass", "2.13.0")] == ["await"]
    began = time.process_time()
    assert told(f"{code}x = a{'.b()' * 600}\ny = {'+'.join(['1'] * 1500)}", "2.13.0") == []
    nested = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90))
    assert told(f"{code}{nested}{' ' * 90}x = [{', '.join(['name'] * 15_000)}]", "2.13.0") == []
    assert time.process_time() - began < 5


def test_a_function_is_asynchronous_in_some_versions_alone() -> None:
    code = (
        "from google.adk.sessions import InMemorySessionService\nInMemorySessionService().create_session(app_name='a')"
    )
    assert told(code, "0.5.0") == [] and [kind for kind, _, _ in told(code, "1.4.2")] == ["await"]
    (found,) = check(code, "1.4.2").deviations
    assert found.text.endswith("as an asynchronous function: the code lacks `await`.")


PAGE = """\
# Apps

```python
from google.adk.apps import App
```

=== "Python"

    ```python
    !pip install google-adk
    app = App(name="a", ...)
    import google.adk.skills
    ```

=== "Java"

    ```java
    import google.adk.workflow.Node;
    ```

Indented:

    from google.adk.workflow import JoinNode
    x = (

```
from google.adk.workflow import node
```

```python
>>> from google.adk.plugins import BasePlugin
shown
```

--8<-- "part.py"
"""


def test_a_page_shows_fenced_indented_and_included_code() -> None:
    assert told(PAGE, lang="md", part="a = 1\nfrom google.adk.optimization import data_types\n") == [
        ("import", "apps.App", 4),
        ("import", "skills", 12),
        ("import", "workflow.JoinNode", 23),
        ("import", "workflow.node", 27),
        ("import", "plugins.BasePlugin", 31),
        ("import", "optimization.data_types", 35),
    ]


def test_names_of_an_earlier_snippet_are_known_in_a_later_one() -> None:
    first, second = "from google.adk.agents import LlmAgent", 'LlmAgent(mode="task")'
    assert told(f"```python\n{first}\n```\n\n```python\n{second}\n```\n", "1.18.0", "md") == [
        ("keyword", "agents.LlmAgent(mode=)", 6)
    ]
    assert told(f"```python\n{second}\n```\n\n```python\n{first}\n```\n", "1.18.0", "md") == []


def test_imports_are_counted_once_for_each_name_of_each_statement() -> None:
    code = "from google.adk.agents import LlmAgent, ManagedAgent\nimport google.adk.apps\nimport os\n"
    found = check(f"```python\n{code}```\n\n```python\n{code}```\n", lang="md")
    assert (found.imports, found.missing) == (6, 4)


def test_names_that_no_version_has_are_judged_fast_and_only_so_many_of_a_page() -> None:
    calls = "".join(f"LlmAgent(colour_{number}=1)\n" for number in range(2 * MAX_LACKING_NAMES))
    started = time.process_time()
    found = told(f"from google.adk.agents import LlmAgent\n{calls}LlmAgent(colour_0=2)\n", "2.13.0")
    assert time.process_time() - started < 2
    assert [line for *_, line in found] == [*range(2, 2 + MAX_LACKING_NAMES), 2 + 2 * MAX_LACKING_NAMES]


def test_a_keyword_in_camel_case_that_is_gone_is_told_with_its_last_version() -> None:
    fields = {"": "m", "BaseModel": "~", "Tea": "ck:~pydantic.BaseModel", "Tea.steep_seconds": "o:"}
    table = make_table("google-adk", {"1.0.0": {"google.adk": fields}, "2.0.0": {"google.adk": {"": "m", "Tea": "c:"}}})
    lack = find_lack(History(table), "2.0.0", "google.adk.Tea(steepSeconds=)")
    assert lack is not None and lack.until == "1.0.0"


def test_of_a_version_that_the_table_does_not_know_nothing_is_told() -> None:
    assert [checker_for(version) for version in ("99.0.0", "main", "0.0.0", None)] == [None] * 4


def test_a_name_in_an_editor_is_told_where_the_version_lacks_it() -> None:
    text = "from google.adk.apps import App\nfrom google.adk.agents import LlmAgent\nApp()\nLlmAgent(mode=1)\nother\n"
    document = PythonDocument(text)
    at = checker("1.4.2").at
    assert [bool(at(document, *place)) for place in ((0, 29), (2, 1), (3, 10), (1, 31), (4, 1), (4, 9))] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_a_folder_is_read_with_its_includes_but_without_environments_and_links(tmp_path: Path) -> None:
    code = "from google.adk.apps import App\n"
    docs = tmp_path / "docs"
    (docs / ".venv").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text("")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "a.py").write_text(code)
    (docs / "page.md").write_text('```python\n--8<-- "examples/a.py"\n--8<-- "/etc/passwd"\n```\n')
    (docs / "b.py").write_text(code)
    (docs / ".venv" / "c.py").write_text(code)
    (docs / "binary.md").write_bytes(b"\x00\x01")
    (docs / "link.py").symlink_to(tmp_path / "examples" / "a.py")
    report = report_drift(checker("1.4.2"), files_of_folder(docs))
    assert (report.files, report.imports, report.missing, report.share) == (2, 2, 2, 1.0)
    assert [(one.file.path, one.deviation.first, one.deviation.included) for one in report.found] == [
        ("b.py", 0, ""),
        ("page.md", 1, "examples/a.py"),
    ]
    with pytest.raises(SourceError):
        list(files_of_folder(tmp_path / "none"))


def test_another_working_tree_of_the_repository_is_not_checked_as_well(tmp_path: Path) -> None:
    write_checkout(tmp_path, {"a.py": "import google.adk\n"})
    git(tmp_path, "worktree", "add", "--quiet", "tree")
    assert [file.path for file in files_of_folder(tmp_path)] == ["a.py"]


def test_the_prose_of_pages_is_read_for_readers_of_python(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(
        "Use `SkillToolset`.\n\n```python\nfrom google.adk.apps import App\n```\n\nOr `built_in_code_execution`.\n\n"
        '=== "Python"\n\n    The `VertexAiRagRetrieval`.\n\n=== "Java"\n\n    The `GoogleApiToolSet`.\n'
    )
    (tmp_path / "a.py").write_text("# The `SkillToolset`.\n")
    report = report_drift(checker("1.4.2"), files_of_folder(tmp_path))
    assert [(one.deviation.first, one.deviation.kind, one.deviation.symbol) for one in report.found] == [
        (0, "name", "SkillToolset"),
        (3, "import", "google.adk.apps.App"),
        (6, "name", "built_in_code_execution"),
    ]


THREE_BLOCKS = """```python
from google.adk.apps import App
```

```python
app = App(name="a")
```

```python
from google.adk.agents import Nobody
from other import App
```

```python
App(name="b")
```
"""


def test_lines_of_a_page_show_what_the_snippets_in_them_show() -> None:
    page = check(THREE_BLOCKS, lang="md")
    for first, last, lines in ((0, 3, {1}), (3, 3, set()), (4, 8, set()), (6, 9, {9}), (10, 10, {9}), (0, 99, {1, 9})):
        assert {one.first for one in page.within(first, last)} == lines, (first, last)
    assert page.within(0, 99) == page.deviations


@pytest.mark.parametrize(
    "text",
    [
        "a\n```python\nx\n```\nb\n~~~~\n```\n~~~~\n",
        "- item\n\n    ``` {.python}\n    x\n    ```\n",
        "---\ntitle: a\n```: b\n---\n```py\nx\n```\n",
        "---\n- a list\n```py\n---\n```\n",
        "<!--\n```py\n-->\n```js\nx\n```\n<pre>\n```\n",
        "```py\nnever closed\n\n`` ` ``\n~~~\nx\n~~~\n",
    ],
)
def test_the_code_blocks_of_a_page_are_those_of_the_whole_reader(text: str) -> None:
    lines = text.split("\n")
    page = read_markdown(lines)
    expected = [(*at, page.fence_language[at[0]]) for n, at in enumerate(page.fence_at) if at and at[0] == n]
    assert [tuple(block) for block in code_blocks(lines).values()] == expected
    assert expected
