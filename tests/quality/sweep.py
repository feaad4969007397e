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

MAX_VARIANTS = 200
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
        InvalidRequestError: A setting cannot be read or is given twice, or there are too many combinations.
    """
    axes: dict[str, list[Any]] = {}
    for text in settings:
        path, values = _axis(text)
        if path in axes:
            raise InvalidRequestError(f"{path} is given twice.", _HINT)
        axes[path] = values
    combinations = list(itertools.islice(itertools.product(*axes.values()), MAX_VARIANTS + 1))
    if len(combinations) > MAX_VARIANTS:
        raise InvalidRequestError(f"The grid has more than {MAX_VARIANTS} variants.", "Sweep fewer settings at once.")
    named = [path for path, values in axes.items() if len(values) > 1] or list(axes)
    variants = []
    for combination in combinations:
        overrides = dict(zip(axes, combination, strict=True))
        name = " ".join(f"{path.rpartition('.')[2]}={_plain(overrides[path])}" for path in named)
        variants.append(Variant(name or "as configured", overrides))
    return variants


def _axis(text: str) -> tuple[str, list[Any]]:
    path, equals, values = text.partition("=")
    path = path.strip()
    if not equals or not all(path.split(".")):
        raise InvalidRequestError(f"--set {text!r} is not a setting with its values.", _HINT)
    try:
        parsed = yaml.safe_load(f"[{values}]")
    except yaml.YAMLError as exc:
        raise InvalidRequestError(f"The values of --set {text!r} cannot be read.", _HINT) from exc
    if not isinstance(parsed, list) or not parsed:
        raise InvalidRequestError(f"--set {text!r} has no values.", _HINT)
    return path, parsed


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


app = tool(sweep)

if __name__ == "__main__":
    app()
