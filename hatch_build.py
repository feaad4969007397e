"""Makes the README fit the page of a package registry, which has none of the repository's files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# Fenced or inline code, or a link or picture with a path of the repository.
CODE_OR_RELATIVE = re.compile(
    r"^```.*?^```$|`[^`\n]+`|(!?)(\[[^\]\n]*\])\((?![A-Za-z][A-Za-z0-9+.-]*:|#)([^)\s]+)\)", re.MULTILINE | re.DOTALL
)


def absolute(text: str, address: str, version: str) -> str:
    """The text with the paths of links and pictures as addresses of the version's tag; code stays as it is."""

    def replaced(match: re.Match[str]) -> str:
        picture, label, path = match.groups()
        if path is None:
            return match[0]
        return f"{picture}{label}({address}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return CODE_OR_RELATIVE.sub(replaced, text)


class CustomMetadataHook(MetadataHookInterface):
    """The hook that hatchling looks for in this file."""

    def update(self, metadata: dict[str, Any]) -> None:
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = absolute(readme, metadata["urls"]["Repository"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
