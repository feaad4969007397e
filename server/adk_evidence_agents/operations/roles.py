"""How the agent that asks steers what it is given."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adk_evidence.models.request import TaskMode


@dataclass(frozen=True)
class Role:
    """What a kind of agent needs: the mode of the ranking, and the share of its budget that code may take."""

    task_mode: TaskMode
    code_share: float


NEUTRAL = Role("build", 0.5)
# The first that fits a word of the agent's type decides: a test engineer tests, a debugging engineer debugs.
_ROLES: tuple[tuple[str, Role], ...] = (
    (r"docs?|document\w*|writ\w+", Role("explain", 0.25)),
    (r"tests?|test\w+|qa", Role("build", 0.75)),
    (r"debug\w*|fix\w*|errors?|troubleshoot\w*", Role("debug", 0.6)),
    (r"refactor\w*|review\w*|migrat\w+|optimi[sz]\w+", Role("refactor", 0.7)),
    (r"explain\w*|research\w*|analy\w+|plan\w*|architect\w*|teach\w*", Role("explain", 0.4)),
    (r"build\w*|cod(?:e|er|ing)|develop\w*|engineer\w*|implement\w*|front\w*|back\w*|full\w*", Role("build", 0.6)),
    (r"general", NEUTRAL),
)
KNOWN = "docs, test, debug, refactor, explain, build or general"


def role_of(agent_type: str) -> Role | None:
    """The role of an agent by the words of its type, or None where none of them is known."""
    words = re.findall(r"[a-z]+", agent_type.lower())
    for pattern, role in _ROLES:
        if any(re.fullmatch(pattern, word) for word in words):
            return role
    return None
