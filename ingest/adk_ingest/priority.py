"""The priority of a process that works behind an editor; the processes that it starts have the same."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

# How much lower the priority is than that of other programs.
NICENESS = 10
_BELOW_NORMAL_PRIORITY_CLASS = 0x4000


def lower_priority() -> None:
    """Let editors and compilers go first."""
    nice: Callable[[int], int] | None = getattr(os, "nice", None)
    windows: Any = getattr(ctypes, "windll", None)
    if nice is not None:
        nice(NICENESS)
    elif windows is not None:
        windows.kernel32.SetPriorityClass(windows.kernel32.GetCurrentProcess(), _BELOW_NORMAL_PRIORITY_CLASS)
