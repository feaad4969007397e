"""What a result is to what a request names outright; `render/wording.py` has the words."""

from __future__ import annotations

from typing import Literal, NamedTuple

# Of a traceback: where the error is raised, where the exception is raised that led to it, the last indexed call before
# the error, an earlier call. Of a pasted text: the whole message of an error, a part of it, another text. Of a name:
# its definition, something that takes it as a parameter.
NamedRole = Literal[
    "raises",
    "raises_cause",
    "last_call",
    "call",
    "holds_message",
    "holds_part",
    "holds_text",
    "defines",
    "takes",
]
FRAME_ROLES: frozenset[NamedRole] = frozenset({"raises", "raises_cause", "last_call", "call"})


class Named(NamedTuple):
    """A role, and what it is about: its names, and of a call its place among so many frames.

    The name of a cause is its exception; so is that of a last call that raised the error in another version.
    """

    role: NamedRole
    names: tuple[str, ...] = ()
    frame: int = 0
    frames: int = 0

    @property
    def is_of_other(self) -> bool:
        """Whether a call of a traceback has other code in the version that answers."""
        return (self.role == "last_call" and bool(self.names)) or (self.role == "call" and not self.frame)
