"""Where the product keeps its files, all below one home folder; paths as users write them."""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adk_evidence.errors import SettingsError

APP_NAME = "adk-evidence"


def default_home() -> Path:
    """The platform's user data folder for this product; `SettingsError` where the user has no home folder."""
    # Whoever only checks code needs no other package.
    import platformdirs

    folder = platformdirs.user_data_dir(APP_NAME, appauthor=False)
    # Without HOME and without an entry for the user in the system's list of users, `~` stays.
    if folder.startswith("~"):
        raise SettingsError("This user has no home folder.", "Set HOME, or ADK_EVIDENCE_HOME to a folder of your own.")
    return Path(folder)


def expanded(path: Path) -> Path:
    """The path with the home folder in the place of `~`, where there is such a home folder."""
    with suppress(RuntimeError):
        return path.expanduser()
    return path


def user_settings_file() -> Path:
    """The user's own settings file; it may not exist."""
    import platformdirs

    return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False)) / "settings.yaml"


# Each request asks for the table of released versions; finding out where this file lies takes a tenth of a millisecond.
@functools.cache
def config_file(name: str) -> Path:
    """A file of the config folder of the installation or of the checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "_config", here.parent.parent / "config"):
        if (folder / name).is_file():
            return folder / name
    raise SettingsError(f"The installation is incomplete: config/{name} is missing.", "Install adk-evidence again.")


@dataclass(frozen=True)
class Home:
    """The layout of the home folder. Asking for a path creates nothing.

    All indexes share models, caches and logs. The other files of the main index lie in the home folder itself, those of
    the index called `named` in a folder below `indexes`.
    """

    root: Path
    named: str | None = None

    @property
    def indexes(self) -> Path:
        return self.root / "indexes"

    @property
    def own(self) -> Path:
        """The folder for files of this index alone."""
        return self.root if self.named is None else self.indexes / self.named

    @property
    def index(self) -> Path:
        return self.own / "index"

    @property
    def models(self) -> Path:
        """Assembled model files, keyed by the hash of their weights."""
        return self.root / "models"

    @property
    def targets(self) -> Path:
        """Sets of ranked targets, one for each state of corpora and model."""
        return self.own / "targets"

    @property
    def embedding_cache(self) -> Path:
        """The SQLite file of computed vectors."""
        return self.root / "cache" / "embeddings.sqlite"

    @property
    def environments(self) -> Path:
        """What the packages of projects' environments have, read from their files."""
        return self.root / "cache" / "environments"

    @property
    def index_folders(self) -> list[Path]:
        """The existing index folders of the main index and of named indexes."""
        folders = [self.root / "index", *self.indexes.glob("*/index")]
        return [folder for folder in folders if folder.is_dir()]

    @property
    def corpora(self) -> Path:
        """Clones and unpacked distributions."""
        return self.root / "corpora"

    @property
    def runs(self) -> Path:
        """Run manifests and failure reports (SPEC 3 section 12)."""
        return self.own / "manifests" / "ingestion_runs"

    @property
    def server_collections(self) -> Path:
        """Names of the collections on Qdrant servers that were created from this home and not dropped yet.

        Not in the index folder: a copy of the index folder must not drop what the original serves.
        """
        return self.own / "server-collections.json"

    @property
    def error_log(self) -> Path:
        """Where unexpected failures of the command lines were raised, without texts of documents or questions."""
        return self.root / "logs" / "errors.log"

    @property
    def event_log(self) -> Path:
        """The retrieval event log (SPEC 5 section 12)."""
        return self.root / "logs" / "events.jsonl"

    @property
    def setup_record(self) -> Path:
        """What `adk-evidence setup` wrote into the files of agents."""
        return self.root / "setup.json"

    def mcp_token(self, port: int) -> Path:
        """The token that clients of the MCP server at a port must show; the file exists while that server runs."""
        return self.root / f"mcp-{port}.token"


def holds_the_users_home(folder: Path) -> bool:
    """Whether a folder is the user's home or holds that."""
    home = Path.home().resolve()
    return folder == home or folder in home.parents
