"""Where definitions are used: by what names mean in Python, by the names alone in other languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adk_evidence.desk import Indexes
from adk_evidence.errors import InvalidRequestError
from adk_evidence.search.session import Session
from adk_evidence.search.uses import defined_as, defined_at, find_uses, told
from adk_ingest.commands.codebase import codebase_from
from adk_ingest.indexes.codebase import CodebaseIndexer
from adk_ingest.progress import Progress
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_files

pytestmark = pytest.mark.slow

FILES: dict[str, str] = {
    "kit/__init__.py": "from .engine import Engine as Engine\n",
    "kit/engine.py": '''\
"""Engine and run are named here, which is no use."""

import subprocess


class Engine:
    """Runs."""

    def run(self, speed: int = 1) -> "Engine":
        # run, in a comment
        subprocess.run("run")
        return self

    def twice(self):
        return self.run().run()


Motor = Engine
''',
    "kit/fast.py": """\
from kit import Engine
from kit.engine import Motor as M


class Fast(Engine):
    def run(self, speed: int = 2) -> Engine:
        return super().run(speed)


class Other:
    def run(self):
        return Other().run()


def drive(engine: Engine, unknown):
    M()
    engine.run()
    unknown.run()
    run = 1
    return run
""",
    "elsewhere/namesake.py": "class Engine:\n    pass\n\n\nEngine()\n",
    "tests/test_kit.py": "from kit.engine import Engine\n\n\ndef test_run():\n    Engine().run()\n    Engine().run()\n",
    "web/shape.ts": """\
/** Shape, in a comment. */
export class Shape<T> {
  static of() { return new Shape("Shape's"); }
}
""",
    "web/round.ts": """\
import {
  Line,
  Shape,
} from "./shape";

// Shape
export class Round extends Shape<number> {}
export function draw<T extends Shape<T>>(): Shape<T> { return Shape.of('Shape'); }
""",
    "web/zone.js": "class Shape {}\nnew Shape();\n",
    "go/part.go": (
        "package part\n\ntype Part struct {\n\tSize int\n}\n\n"
        "type Whole struct {\n\tPart\n}\n\nvar one = Part{Size: 1}\n"
    ),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = Workplace(tmp_path_factory.mktemp("uses"))
    folder = write_files(place.root / "of kit", FILES)
    indexer = CodebaseIndexer(place.settings, dense=HashEmbedder(), sparse=shared_sparse())
    indexer.build(codebase_from(place.settings, folder, "kit", {}), Progress())
    indexes = Indexes(place.settings)
    with indexes.service(indexes.named("kit").settings).session() as opened:
        yield opened
    indexes.close()


def uses(session: Session, name: str, limit: int = 20) -> list[str]:
    """Each use as `kind path:line`, those by the name alone with a question mark."""
    found = find_uses(session, defined_as(session, name), limit)
    return [f"{use.kind} {use.path}:{use.line}{'?' * use.by_name}" for use in found.uses]


def test_a_class_by_what_its_names_mean(session: Session) -> None:
    assert uses(session, "kit.Engine") == [
        "subclass kit/fast.py:5",
        # By its other name; then tests.
        "call kit/fast.py:16",
        "call tests/test_kit.py:5",
        "call tests/test_kit.py:6",
        "import kit/__init__.py:1",
        "import kit/fast.py:1",
        "import kit/fast.py:2",
        "import tests/test_kit.py:1",
        "mention kit/engine.py:18",
        "mention kit/fast.py:6",
        "mention kit/fast.py:15",
    ]
    assert uses(session, "Motor") == uses(session, "kit.engine.Engine()") == uses(session, "kit.Engine")


def test_a_method_is_told_from_its_namesakes(session: Session) -> None:
    assert uses(session, "Engine.run") == [
        "override kit/fast.py:6",
        "call kit/engine.py:15",
        "call kit/fast.py:7",
        "call kit/fast.py:17",
        "call tests/test_kit.py:5",
        "call tests/test_kit.py:6",
        "call kit/fast.py:18?",
    ]
    found = find_uses(session, defined_as(session, "Engine.run"), 1)
    assert (found.totals, len(found.uses)) == ({"override": 1, "call": 6}, 2)
    assert set(found.namesakes) == {"kit.fast.Fast.run", "kit.fast.Other.run"}
    assert found.uses[0].inside == "Fast.run" and found.uses[0].text == "def run(self, speed: int = 2) -> Engine:"
    assert "Call it (1 of 6):" in [line for line, _ in told(found)]


def test_other_languages_go_by_the_name_alone(session: Session) -> None:
    assert uses(session, "Shape") == [
        "subclass web/round.ts:7?",
        "call web/shape.ts:3?",
        "import web/round.ts:3?",
        "mention web/round.ts:8?",
    ]
    assert uses(session, "Part") == ["subclass go/part.go:8?", "call go/part.go:11?"]


def test_the_definition_at_cited_lines(session: Session) -> None:
    def at(place: str) -> str:
        return str(defined_at(session, session.read(place)))

    assert at("kit/engine.py:9-9") == at("kit/engine.py:10-11") == "kit.engine.Engine.run"
    assert at("kit/engine.py:6-16") == "kit.engine.Engine"
    assert at("go/part.go:3-5").startswith("Part (go/part.go:")
    assert at("kit/__init__.py:1-1") == "None"


def test_what_is_unknown_or_unused_is_said(session: Session) -> None:
    with pytest.raises(InvalidRequestError, match="no definition"):
        defined_as(session, "Nothing")
    assert [*told(find_uses(session, defined_as(session, "drive"), 5))] == [
        ("Nothing that is indexed uses kit.fast.drive.", "")
    ]
