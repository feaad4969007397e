"""Measures every combination of some settings on golden sets (SPEC 5 section 13.3).

python -m tests.quality.sweep --set retrieval.fusion=rrf,dbsf --set retrieval.hnsw_ef=64,256
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import yaml

from adk_evidence.errors import InvalidRequestError
from adk_evidence_console import Home, Profile
from adk_evidence_eval.cli import AsJson, Goldens, measure
from adk_evidence_eval.variants import Variant
from adk_evidence_eval.views import show, variants_view
from tests.quality.tool import tool

_HINT = "Write it as retrieval.fusion=rrf,dbsf; a list as retrieval.branches=[dense],[dense, sparse]."


def sweep(
    vary: Annotated[
        list[str],
        typer.Option(
            "--set", help="A setting and its values, e.g. retrieval.fusion=rrf,dbsf; repeatable: all combine."
        ),
    ],
    golden: Goldens = None,
    as_json: AsJson = False,
    profile: Profile = None,
    home: Home = None,
) -> None:
    """Measure every combination of some settings: fusion, limits, ef, expansion, reranker or any other."""
    show(variants_view(measure(grid(vary), golden, profile, home)), as_json=as_json)


def grid(settings: Sequence[str]) -> list[Variant]:
    """Every combination of some settings as a variant, named by what differs between the variants.

    Args:
        settings: For each setting its dotted path and its values, as in `rerank.provider=local,none`.

    Raises:
        InvalidRequestError: A setting cannot be read.
    """
    axes = dict(map(_axis, settings))
    named = [path for path, values in axes.items() if len(values) > 1] or list(axes)
    variants = []
    for combination in itertools.product(*axes.values()):
        overrides = dict(zip(axes, combination, strict=True))
        name = " ".join(f"{path.rpartition('.')[2]}={_plain(overrides[path])}" for path in named)
        variants.append(Variant(name or "as configured", overrides))
    return variants


def _axis(text: str) -> tuple[str, list[Any]]:
    path, _, values = text.partition("=")
    try:
        parsed = yaml.safe_load(f"[{values}]")
    except yaml.YAMLError:
        parsed = None
    if not isinstance(parsed, list) or not parsed:
        raise InvalidRequestError(f"--set {text!r} is not a setting with its values.", _HINT)
    return path.strip(), parsed


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


app = tool(sweep)

if __name__ == "__main__":
    app()
