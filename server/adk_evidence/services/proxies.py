"""The proxy of an address, for sentences about what cannot be reached."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit


def unreachable(url: str) -> str:
    """`pypi.org cannot be reached through the proxy 10.0.0.1:3128`."""
    with suppress(ValueError):
        return f"{urlsplit(url).hostname} cannot be reached{through_proxy(url)}"
    return "it cannot be reached"


def through_proxy(url: str) -> str:
    """` through the proxy 10.0.0.1:3128`, as the environment or the system says for an address; empty without one.

    It has no user and no password.
    """
    from urllib.request import getproxies, proxy_bypass

    with suppress(ValueError, OSError):
        asked = urlsplit(url)
        proxies = getproxies()
        proxy = proxies.get(asked.scheme) or proxies.get("all") or ""
        place = urlsplit(proxy if "://" in proxy else f"//{proxy}").netloc.rpartition("@")[2]
        if place and asked.hostname and not proxy_bypass(asked.hostname):
            return f" through the proxy {place[:200]}"
    return ""
