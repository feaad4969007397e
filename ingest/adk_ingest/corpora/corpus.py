"""One corpus of a run, as data. What is done with its files, by their form, is in `forms.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from adk_evidence.models.chunk import Kind, Origin
from adk_evidence.readers.pages.audience import EVERYBODY, Readers
from adk_evidence.settings import Settings
from adk_evidence.store.manifest import SourceLocation
from adk_ingest.chunking.base import SourceFile
from adk_ingest.corpora.discovery import Discovery
from adk_ingest.corpora.known_files import KnownFiles
from adk_ingest.records import tasks
from adk_ingest.records.questions import NONE, WrittenQuestions, written_questions
from adk_ingest.records.tasks import Tasks
from adk_ingest.sources.base import CorpusSource
from adk_ingest.sources.mkdocs_site import MkdocsSite

# How the files of a corpus are cut and addressed: as pages of a site, as pages that are made of modules, as code, or as
# the pages or the code of any folder.
Form = Literal["site", "api-reference", "code", "folder-docs", "folder-code"]

# Folder of generated pages within a generation.
PAGES_FOLDER = "pages"


@dataclass(frozen=True)
class Module:
    """What a page of the API reference is made of; `exports` has the public paths of names that the module defines."""

    file: SourceFile
    name: str
    exports: Mapping[str, str]


@dataclass(frozen=True)
class CorpusInput:
    """One corpus of a run.

    `name` is the corpus's name in the index's manifest; its chunks carry the source's name. `state` is a hash of
    everything besides the files themselves, their place and the commit that decides its chunks' payloads: when it
    differs from the published index's, every file counts as changed. `site_url` is where the pages are published.
    `found` says what the walk passed over. `uncommitted` are the paths of files that differ
    from the commit of the source; see `as_cited`.

    Only some forms have the rest. A site has `site`, its navigation, and `readers`, for whom its pages are. Pages of a
    folder may include the files of `included`. Pages of the API reference are made of `modules`, by the paths of the
    pages.
    """

    name: str
    kind: Kind
    form: Form
    source: CorpusSource
    settings: Settings
    created_at: str
    state: str
    files: tuple[SourceFile, ...]
    origin: Origin = "repository"
    found: Discovery = field(default_factory=Discovery)
    site_url: str | None = None
    uncommitted: frozenset[str] = frozenset()
    site: MkdocsSite | None = None
    readers: Readers = EVERYBODY
    included: Mapping[str, SourceFile] = field(default_factory=dict)
    modules: Mapping[str, Module] = field(default_factory=dict)

    @cached_property
    def questions(self) -> WrittenQuestions:
        """The questions that were written for the chunks; generated pages repeat the code, and have none."""
        return NONE if self.is_generated else written_questions(self.settings)

    @cached_property
    def tasks(self) -> Tasks:
        """The tasks that the chunks answer; generated pages have none."""
        return tasks.NONE if self.is_generated else tasks.tasks_for(self.settings)

    @property
    def text_kind(self) -> Kind:
        """What the chunks' texts are for the encoders: samples are code, though they belong to the documentation."""
        return "code" if self.origin == "sample" else self.kind

    @property
    def is_generated(self) -> bool:
        """Whether the pages are made of code: the index keeps them, since no source has them.

        They repeat what the code says, so the dense encoder gets the beginnings of their chunks alone.
        """
        return self.form == "api-reference"

    @property
    def location(self) -> SourceLocation:
        """Where citations of the files are checked."""
        if not self.is_generated:
            return self.source.location()
        return SourceLocation(kind="pages", root=Path(PAGES_FOLDER), commit=self.source.commit)

    def without_files(self) -> CorpusInput:
        """What another process needs to make records of files that it is given."""
        source = replace(self.source, committed=None, known=KnownFiles())
        return replace(self, source=source, files=(), found=Discovery(), uncommitted=frozenset())
