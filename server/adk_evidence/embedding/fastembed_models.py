"""Loads models of FastEmbed's list: from a folder, from the kept download, or from the model hub if it answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from adk_evidence.embedding.weights import Report, hub_problem
from adk_evidence.errors import ModelError, SettingsError

Family = Literal["dense", "sparse", "cross-encoder"]
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")


@functools.cache
def describe(family: Family, model: str) -> dict[str, Any]:
    """The entry of a model in FastEmbed's list, whatever the case of its name.

    Raises:
        SettingsError: The list does not have it.
    """
    known = {entry["model"].lower(): entry for entry in _loader(family).list_supported_models()}
    entry: dict[str, Any] | None = known.get(model.lower())
    if entry is None:
        names = ", ".join(sorted(item["model"] for item in known.values())[:6])
        raise SettingsError(f"FastEmbed has no {family} model {model!r}.", f"Its list begins with: {names}.")
    return entry


def open_model(
    family: Family,
    model: str,
    folder: Path | None,
    models: Path,
    *,
    setting: str,
    threads: int | None,
    report: Report | None = None,
) -> Any:
    """A loaded model.

    Args:
        family: What kind of model it is.
        model: Its name in FastEmbed's list.
        folder: Where the user has it; then nothing else is tried.
        models: The folder of prepared models, below which downloads are kept.
        setting: The setting that names the folder, for messages.
        threads: Threads of the runtime; None: one a core.
        report: Gets a sentence before a download.

    Raises:
        SettingsError: FastEmbed has no such model.
        ModelError: The folder lacks a file, the hub does not answer, or the model does not load.
    """
    described = describe(family, model)
    name, file = described["model"], described["model_file"]

    def load(**where: Any) -> Any:
        return _loader(family)(name, threads=threads, enable_cpu_mem_arena=False, **where)

    if folder is not None:
        folder = folder.expanduser()
        missing = [needed for needed in (file, *TOKENIZER_FILES) if not (folder / needed).is_file()]
        if missing:
            raise ModelError(
                f"The folder {folder} does not hold {name}: {' and '.join(missing)} missing.",
                f"Mend {setting} or unset it.",
            )
        return _loaded(name, lambda: load(specific_model_path=str(folder)), f"Mend {setting} or unset it.")
    kept = models / "fastembed"
    remove = f"Remove {kept} and try again, or set {setting} to a folder with the model."
    try:
        return load(cache_dir=str(kept), local_files_only=True)
    except ValueError:
        # FastEmbed says so within milliseconds where nothing is kept. Asked to download, it would try for 39 s.
        problem = hub_problem(described["sources"].get("hf") or name, file)
    except Exception as exc:
        raise _broken(name, exc, remove) from exc
    if problem:
        raise ModelError(
            f"{name} is not on this machine and the model hub did not give it ({problem}).",
            f"Get online once, or set {setting} to a folder with {file}, {' and '.join(TOKENIZER_FILES)}.",
        )
    if report is not None:
        report(f"Downloading {name} from the model hub ({described['size_in_GB']:g} GB, once)")
    return _loaded(name, lambda: load(cache_dir=str(kept)), remove)


def _loader(family: Family) -> Any:
    if family == "sparse":
        from fastembed import SparseTextEmbedding

        return SparseTextEmbedding
    if family == "dense":
        from fastembed import TextEmbedding

        return TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder


def _loaded(name: str, load: Callable[[], Any], hint: str) -> Any:
    try:
        return load()
    # The exceptions of ONNX Runtime, tokenizers and the hub client have no common base.
    except Exception as exc:
        raise _broken(name, exc, hint) from exc


def _broken(name: str, exc: Exception, hint: str) -> ModelError:
    return ModelError(f"The model {name} does not load ({type(exc).__name__}).", hint)
