"""The quality gate: a small corpus of our own, questions with their spans, and the scores that must not fall.

    PYTHONPATH=server:ingest:. python -m tests.quality.gate

writes `floor.json` anew, which is a decision: say in the commit why the scores may fall.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adk_evidence.embedding.base import DenseEmbedder
from adk_evidence.embedding.minilm.model import MODEL, MiniLmEmbedder, prepare_minilm
from adk_evidence.search.session import EvidenceService
from adk_evidence.search.stages import Ranking
from adk_evidence.settings import load_settings
from adk_evidence_eval.bootstrap import Interval, mean_interval
from adk_evidence_eval.golden import GoldenQuestion, read_golden
from adk_evidence_eval.run import Order, run_queries
from adk_evidence_eval.score import Scores, score_run
from tests.corpora import HashEmbedder, Workplace, shared_sparse, write_code, write_docs

HERE = Path(__file__).parent
FLOOR = HERE / "floor.json"
METRICS = ("ndcg@12", "recall@5", "recall@2k")
DEPTH = 60

# Without written questions: some modules of the corpus are called as modules of the ADK are, whose questions ask about
# other things.
_OWN_WORDS = {"ingestion": {"questions": False}}
# With the model, and by keywords alone, which needs no model.
MODES: Mapping[str, Mapping[str, Any]] = {
    "model": _OWN_WORDS,
    "keywords": _OWN_WORDS | {"retrieval": {"branches": ["sparse", "symbol"]}},
}

Floor = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True)
class Fall:
    """A metric that fell by more than chance explains, with the interval of the paired difference."""

    metric: str
    difference: Interval


def golden() -> dict[str, GoldenQuestion]:
    """The gate's questions."""
    return read_golden(HERE / "golden.jsonl", ask=True)


def build(root: Path, mode: str, dense: DenseEmbedder) -> Workplace:
    """The corpus, indexed."""
    files = {path.relative_to(HERE / "corpus").as_posix(): path.read_text(encoding="utf-8") for path in _files()}
    write_docs(root / "docs", {name: text for name, text in files.items() if name.startswith("docs/")})
    write_code(root / "code", {name: text for name, text in files.items() if name.startswith("src/")})
    workplace = Workplace(root, dict(MODES[mode]))
    workplace.ingest(dense=dense)
    return workplace


def measure(service: EvidenceService, order: Order = Ranking.order) -> dict[str, Scores]:
    """The gate's metrics by question."""
    questions = golden()
    answers = {answer.id: answer for answer in run_queries(service, list(questions.values()), DEPTH, order=order)}
    scores = score_run(answers, questions)
    return {name: {metric: round(row[metric], 4) for metric in METRICS} for name, row in scores.items()}


def falls(floor: Mapping[str, Scores], scores: Mapping[str, Scores]) -> list[Fall]:
    """What fell below the floor by more than the paired bootstrap interval allows."""
    differences = {
        metric: mean_interval([row[metric] - floor[name][metric] for name, row in scores.items()]) for metric in METRICS
    }
    return [Fall(metric, difference) for metric, difference in differences.items() if difference.sign < 0]


def _files() -> list[Path]:
    return sorted(path for path in (HERE / "corpus").rglob("*") if path.suffix in (".md", ".py"))


def _record() -> None:
    settings = load_settings()
    prepare_minilm(settings.paths.models, named_folder=settings.embedding.dense.folder_of(MODEL))
    found = {}
    for mode in MODES:
        dense = MiniLmEmbedder(settings.embedding.dense, settings.paths.models) if mode == "model" else HashEmbedder()
        with tempfile.TemporaryDirectory() as folder:
            workplace = build(Path(folder), mode, dense)
            service = EvidenceService(workplace.settings, dense=dense, sparse=shared_sparse())
            found[mode] = measure(service)
            service.close()
        means = {metric: sum(row[metric] for row in found[mode].values()) / len(found[mode]) for metric in METRICS}
        print(mode, {metric: round(mean, 3) for metric, mean in means.items()})
    rows = {mode: {name: json.dumps(row) for name, row in scores.items()} for mode, scores in found.items()}
    FLOOR.write_text(json.dumps(rows, indent=1).replace('"{', "{").replace('}"', "}").replace('\\"', '"') + "\n")


if __name__ == "__main__":
    _record()
