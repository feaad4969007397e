"""What the benchmarks share: percentiles, resident memory and lines of output."""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Sequence
from pathlib import Path


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def spread(values: Sequence[float], unit: str = "ms") -> str:
    """Median, 95th percentile and maximum on one line."""
    p50, p95 = percentile(values, 50), percentile(values, 95)
    return f"p50 {p50:8.1f} {unit}   p95 {p95:8.1f} {unit}   max {max(values):8.1f} {unit}   n {len(values)}"


def peak_rss_mb(who: int = resource.RUSAGE_SELF) -> float:
    """The largest resident memory so far, mapped index files included."""
    return resource.getrusage(who).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def rss_mb() -> float:
    """The resident memory now, mapped index files included; where the system does not tell, the largest so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_rss_mb()
    return pages * resource.getpagesize() / 1024 / 1024


def show(name: str, value: str) -> None:
    """Print one line of a result."""
    print(f"{name:<28} {value}", flush=True)
