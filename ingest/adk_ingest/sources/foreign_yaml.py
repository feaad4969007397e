"""YAML of a corpus, which strangers write: it constructs nothing but strings, lists and mappings, and stays small."""

from __future__ import annotations

import math
from typing import Any

import yaml

# Aliases of aliases multiply: a few lines can stand for billions of values.
MAX_NODES = 50_000


def load_foreign_yaml(text: str) -> Any:
    """The one document of a text. Values are strings, whatever their tags say, and nothing is merged.

    Raises:
        YAMLError: It is not valid, or holds more than `MAX_NODES` values once its aliases are written out.
        RecursionError: It is nested too deeply.
    """
    loader = yaml.BaseLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _written_out(node, {}) > MAX_NODES:
            raise yaml.YAMLError("the aliases stand for too many values")
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _written_out(node: yaml.Node, known: dict[int, float]) -> float:
    """How many values a node holds; without end where it holds itself."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = math.inf
        children = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
        known[id(node)] = 1 + sum(_written_out(child, known) for child in children)
    return known[id(node)]
