"""What happens after a call has failed."""

from __future__ import annotations

from dataclasses import dataclass

HOPELESS = (TypeError, ValueError, PermissionError)


@dataclass(frozen=True)
class RetryPolicy:
    """How often a call is repeated, and how long the pauses are.

    Args:
        attempts: Calls in all, the first one included.
        pause: Seconds before the second call.
        longest: No pause is longer, in seconds.
    """

    attempts: int = 3
    pause: float = 1.0
    longest: float = 60.0

    def should_repeat(self, error: Exception, attempt: int) -> bool:
        """Whether another call may help after `attempt` calls."""
        return attempt < self.attempts and not isinstance(error, HOPELESS)

    def delay(self, attempt: int) -> float:
        """Seconds to wait after the given attempt: twice as long each time."""
        return min(self.longest, self.pause * 2.0 ** (attempt - 1))


def describe_failure(error: Exception) -> dict[str, str]:
    """The result that the model sees instead of a stack trace."""
    return {"status": "error", "message": str(error) or type(error).__name__}
