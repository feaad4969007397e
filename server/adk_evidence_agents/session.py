"""What all surfaces for agents share: the desk, their turns, checked arguments, failures as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from adk_evidence.admission import Admission, Limits
from adk_evidence.desk import Desk, FindAdk, no_adk
from adk_evidence.errors import EvidenceError, InvalidRequestError
from adk_evidence.index.registry import list_indexes
from adk_evidence.models.citation import parse_citation
from adk_evidence.models.load import ProcessLoad
from adk_evidence.settings import Settings, load_settings
from adk_evidence.validation import first_problem
from adk_ingest.indexes.freshness import Freshness

if TYPE_CHECKING:
    from adk_evidence.models.pack import LeftOut
    from adk_evidence.models.request import EvidenceRequest
    from adk_evidence.search.read import CitedSource
    from adk_evidence.search.session import Session
    from adk_evidence.search.together import Answering
    from adk_evidence.search.uses import Uses
    from adk_evidence.services.eventloop import Cancelled

# Indexing takes minutes: such requests do not queue up with questions.
INDEXING = Limits(running=2, waiting=20)
# Look-ups take milliseconds, and tell how busy the others are.
LOOKUPS = Limits(running=2, waiting=1000)

_Model = TypeVar("_Model", bound=BaseModel)
_Answer = TypeVar("_Answer")


class AgentSession:
    """The desk for agents. Methods may be called from several threads.

    Args:
        load: Loads the settings of the main index; called again after a failure and after `close`.
        find_adk: Finds the google-adk of the project that agents work on. The index of that version then stands for the
            main index.
    """

    def __init__(
        self,
        load: Callable[[], Settings] = load_settings,
        find_adk: FindAdk = no_adk,
    ) -> None:
        self.desk = Desk(load, find_adk, freshen=Freshness())
        # What asks, what indexes or deletes, and what looks something up. The surfaces let requests in.
        self.admission = Admission()
        self.indexing = Admission(INDEXING)
        self.lookups = Admission(LOOKUPS)

    @property
    def settings(self) -> Settings:
        with self.desk.open() as indexes:
            return indexes.settings

    @property
    def time_budget_ms(self) -> int | None:
        """How long a request is willing to wait that does not say so itself; None before the settings are loaded."""
        settings = self.desk.settings
        return None if settings is None else settings.pack.time_budget_ms

    def load(self) -> ProcessLoad:
        """How far this process is used to capacity; raises where the settings cannot be loaded."""
        with self.desk.use() as (service, _):
            return ProcessLoad(requests=self.admission.use(), shared=service.door.shared, caches=service.caches())

    @contextmanager
    def answering(
        self, request: EvidenceRequest, cancelled: Cancelled | None = None, beside: str | None = None
    ) -> Iterator[Answering]:
        """The index of the version that a question names, or else of the project's version, open for the question.

        `beside` names a second index.
        """
        from adk_evidence.search.context import Context

        with self.desk.open() as indexes:
            chosen = indexes.choose(None, request.query)
            other = None if beside is None else indexes.named(beside).settings
            with indexes.answering(chosen, other, Context(cancelled), strict=request.strict) as answering:
                yield answering

    def close(self) -> None:
        """Release the indexes and the models; the next question opens them anew."""
        self.desk.close()

    def read(self, citation: str) -> tuple[CitedSource, tuple[LeftOut, ...]]:
        """The source that a citation points to, in whichever index it was found, and its lines for other readers.

        Citations of a codebase begin with the name of its index, those of the ADK with the name of a repository. Lines
        may be for readers of other programming languages.

        Raises:
            InvalidRequestError: The text is not a citation, or it stands for several files.
            NotIndexedError: No index holds such a file or page at that commit.
            IndexMissingError: Nothing was ingested yet.
            SourceError: The source cannot be read, or the file is gone from it.
        """

        def read(session: Session) -> tuple[CitedSource, tuple[LeftOut, ...]]:
            source = session.read(citation)
            return source, session.lines_for_others(source)

        return self._read(citation, read)

    def uses(self, citation: str, limit: int) -> Uses | None:
        """Where the definition at cited lines is used, at most `limit` uses of a kind; fails as `read` does."""
        from adk_evidence.search.uses import defined_at, find_uses

        def find(session: Session) -> Uses | None:
            wanted = defined_at(session, session.read(citation))
            return find_uses(session, wanted, limit) if wanted else None

        return self._read(citation, find)

    def _read(self, citation: str, read: Callable[[Session], _Answer]) -> _Answer:
        from adk_evidence.search.read import NotIndexedError, is_of_index

        name = parse_citation(citation).name
        with self.desk.open() as indexes:
            try:
                return indexes.read(read, name=name)
            except EvidenceError as exc:
                names = sorted({one for index in list_indexes(indexes.settings) for one in index.cited_as})
                if not is_of_index(exc) or name is None or not names or name in names:
                    raise
                hint = f"Citations begin with {' or '.join(names)}."
                raise NotIndexedError(f"No index has sources called {name!r}.", hint) from None


def valid(model: type[_Model], values: Mapping[str, Any]) -> _Model:
    """Values that a model wrote, checked and typed; the sentence of the `InvalidRequestError` names a bad value."""
    try:
        return model.model_validate(values)
    except ValidationError as exc:
        where, what = first_problem(exc)
        sentence = f"The argument {where or 'request'} is not valid: {what}."
        raise InvalidRequestError(sentence, "Correct it and call again.") from exc
