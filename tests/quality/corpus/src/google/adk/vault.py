"""Tokens and passwords, out of the model's sight."""

from __future__ import annotations

from dataclasses import dataclass

MARGIN_SECONDS = 120


@dataclass(frozen=True)
class Token:
    """A token of a service with the second at which it runs out."""

    value: str
    expires: float

    def needs_refresh(self, now: float) -> bool:
        """Whether it runs out within the next two minutes."""
        return self.expires - now < MARGIN_SECONDS


class Vault:
    """Keeps tokens by owner and service."""

    def __init__(self) -> None:
        self._tokens: dict[tuple[str, str], Token] = {}

    def put(self, owner: str, service: str, token: Token) -> None:
        """Keep a token in place of an older one."""
        self._tokens[owner, service] = token

    def sign_out(self, owner: str) -> None:
        """Drop every token of a person."""
        self._tokens = {key: token for key, token in self._tokens.items() if key[0] != owner}


class SignInRequiredError(Exception):
    """A tool needs a token that is not there; carries the link that a person must follow."""

    def __init__(self, service: str, link: str) -> None:
        super().__init__(f"Sign in to {service}: {link}")
        self.link = link
