"""Makes the file of vectors that ships (`config/vectors.safetensors`) of the cache of a home folder.

    python -m tests.quality.ship_vectors HOME "adk-docs 979a8fa9 (CC-BY-4.0); google-adk 2.13.0, 2.12.0 (Apache-2.0)"

HOME is a new home folder with the indexes whose vectors are to ship. Move the file that ships away before these are
made, so that all of their vectors are computed.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from safetensors.numpy import save

from adk_evidence.embedding.factory import make_dense
from adk_evidence.embedding.shipped import SHIPPED_FILE, packed
from adk_evidence.files import write_atomic
from adk_evidence.settings import load_settings
from adk_evidence_console import say, stdout
from tests.quality.tool import tool

_VECTORS = "SELECT hash, vector FROM vectors JOIN models ON models.id = model WHERE name = ?"


def ship_vectors(
    home: Annotated[str, typer.Argument(help="Home folder of the indexes.")],
    made_of: Annotated[str, typer.Argument(help="The texts that the vectors are of, and their licences.")],
) -> None:
    """Make the file of vectors that ships."""
    settings = load_settings({"home": home})
    model = make_dense(settings).doc.model
    with closing(sqlite3.connect(settings.paths.embedding_cache)) as db:
        vectors = {key: np.frombuffer(blob, dtype="<f4") for key, blob in db.execute(_VECTORS, (model,))}
    file = Path("config") / SHIPPED_FILE
    write_atomic(file, save(packed(vectors), {"model": model, "made_of": made_of}))
    say(stdout(), f"{len(vectors)} vectors of {model} are in {file}.")


if __name__ == "__main__":
    tool(ship_vectors)()
