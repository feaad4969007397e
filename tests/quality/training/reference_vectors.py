"""Makes the stored reference vectors of all-MiniLM-L6-v2, and the ranges of the states of the same texts.

`python -m tests.quality.training.reference_vectors FOLDER server/adk_evidence/embedding/minilm` reads a folder with the
published `model.safetensors` and `tokenizer.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.core.bert_numpy import REFERENCE_TEXTS, Tensors, hidden_states, state_ranges


def sentence_vector(w: Tensors, ids: list[int], heads: int) -> NDArray[np.float64]:
    """Mean of the last hidden states, L2-normalised."""
    mean = hidden_states(w, ids, heads).mean(0)
    return mean / np.linalg.norm(mean)


def main(folder: Path, destination: Path) -> None:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    weights = load_file(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = {text: tokenizer.encode(text).ids[:256] for text in REFERENCE_TEXTS}
    vectors = {text: sentence_vector(weights, ids, heads=12) for text, ids in texts.items()}
    rows = [{"text": text, "vector": [round(float(x), 6) for x in vector]} for text, vector in vectors.items()]
    lines = ",\n".join(json.dumps(row, separators=(",", ":"), ensure_ascii=True) for row in rows)
    (destination / "minilm_reference.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    ranges = state_ranges(weights, texts.values(), heads=12)
    lines = ",\n".join(f'"{name}":[{",".join(f"{x:.2g}" for x in found)}]' for name, found in ranges.items())
    (destination / "minilm_ranges.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
