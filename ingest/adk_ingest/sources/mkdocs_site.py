"""The site that a mkdocs project publishes: URLs and navigation titles."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pathspec
import yaml

CONFIG_FILES = ("mkdocs.yml", "mkdocs.yaml")
_PAGE_EXTENSIONS = (".md", ".markdown", ".mdown", ".mkdn", ".mkd")
_INDEX_NAMES = ("index", "README")
# What mkdocs itself leaves out (its default exclude_docs).
_DEFAULT_EXCLUDES = (".*", "/templates/")
_MAX_CONFIG_BYTES = 1_000_000
_MAX_NAV_DEPTH = 20


@dataclass(frozen=True)
class MkdocsSite:
    """A project that `MkdocsSite.load` read. Paths are relative to the repository.

    `configuration` is what the project's file says, as a text that changes with it.
    """

    site_url: str | None
    docs_dir: str
    use_directory_urls: bool
    titles: Mapping[str, str]
    pages: frozenset[str]
    excluded: pathspec.GitIgnoreSpec = field(repr=False)
    warnings: tuple[str, ...] = ()
    configuration: str = field(default="", repr=False)

    @classmethod
    def load(cls, root: Path, site_url: str | None) -> MkdocsSite:
        """Read `mkdocs.yml` below a repository's root; without that file, the defaults of mkdocs hold.

        `site_url` is where the site is published if `mkdocs.yml` does not say so.
        """
        config, warnings = _read_config(root)
        docs_dir = _docs_dir(root, config)
        left_out = (_lines_of(config.get(name)) for name in ("exclude_docs", "draft_docs"))
        return cls(
            site_url=_base_url(_plain(config.get("site_url")) or site_url),
            docs_dir=docs_dir,
            use_directory_urls=_plain(config.get("use_directory_urls")).lower() != "false",
            titles=dict(_nav_titles(config.get("nav"), docs_dir)),
            pages=_list_pages(root, docs_dir),
            excluded=pathspec.GitIgnoreSpec.from_lines(chain(_DEFAULT_EXCLUDES, *left_out)),
            warnings=tuple(warnings),
            configuration=repr((config, warnings)),
        )

    def url_for(self, path: str) -> str | None:
        """The URL of a page, or None where the page is not published or the site's address is not known."""
        inside = self._inside(path)
        if self.site_url is None or inside is None or self.excluded.match_file(inside):
            return None
        return self.site_url + quote(self._location(path))

    def title_for(self, path: str) -> str | None:
        """The page's title in the navigation; an untitled index page has its section's title."""
        return self.titles.get(path)

    @property
    def superseded(self) -> list[str]:
        """The pages `README.md` that are published under their own names, because an `index.md` lies beside them."""
        readmes = (page for page in self.pages if posixpath.basename(page) == "README.md")
        return sorted(page for page in readmes if posixpath.join(posixpath.dirname(page), "index.md") in self.pages)

    def _inside(self, path: str) -> str | None:
        """The path relative to the docs folder, or None where it is outside."""
        prefix = f"{self.docs_dir}/" if self.docs_dir else ""
        return path.removeprefix(prefix) if path.startswith(prefix) else None

    def _location(self, path: str) -> str:
        """Where a page is published, relative to the site's address."""
        inside = self._inside(path)
        location = path if inside is None else inside
        stem, extension = posixpath.splitext(location)
        if extension.lower() not in _PAGE_EXTENSIONS:
            return location
        folder, name = posixpath.split(stem)
        folder = folder + "/" if folder else ""
        # README.md is a folder's index only where there is no index.md.
        is_index = name == "index" or (name == "README" and _join(self.docs_dir, f"{folder}index.md") not in self.pages)
        if is_index:
            return folder if self.use_directory_urls else f"{folder}index.html"
        return f"{folder}{name}/" if self.use_directory_urls else f"{folder}{name}.html"


class _ForeignLoader(yaml.BaseLoader):
    """Reads what strangers write: it constructs only strings, lists and mappings, and a few lines stay small.

    Aliases of aliases multiply, and may stand for billions of values.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it has aliases, which are not followed")
        return super().compose_node(parent, index)


def _read_config(root: Path) -> tuple[dict[str, Any], list[str]]:
    for name in CONFIG_FILES:
        path = root / name
        try:
            if not path.is_file():
                continue
            if path.stat().st_size > _MAX_CONFIG_BYTES:
                return {}, [f"{name} is larger than {_MAX_CONFIG_BYTES} bytes and was not read."]
            config = yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_ForeignLoader)  # noqa: S506
        except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
            return {}, [f"{name} cannot be read; titles are missing."]
        return (config, []) if isinstance(config, dict) else ({}, [f"{name} is not a mapping."])
    return {}, []


def _plain(value: object) -> str:
    """A setting's text; for `!ENV [NAME, default]` the default, because the build's environment is unknown."""
    if isinstance(value, list):
        value = value[-1] if len(value) > 1 else ""
    return value.strip() if isinstance(value, str) else ""


def _lines_of(value: object) -> list[str]:
    return value.splitlines() if isinstance(value, str) else []


def _base_url(url: str | None) -> str | None:
    return f"{url.rstrip('/')}/" if url and "://" in url else None


def _docs_dir(root: Path, config: Mapping[str, Any]) -> str:
    given = posixpath.normpath(_plain(config.get("docs_dir")).replace("\\", "/") or "docs")
    if given.startswith(("/", "..")) or (not config and not (root / given).is_dir()):
        return ""
    return "" if given == "." else given


def _join(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _list_pages(root: Path, docs_dir: str) -> frozenset[str]:
    found = []
    for folder, _, names in os.walk(root / docs_dir):
        inside = Path(folder).relative_to(root)
        found += [(inside / name).as_posix() for name in names if name.lower().endswith(_PAGE_EXTENSIONS)]
    return frozenset(found)


def _nav_titles(nav: object, docs_dir: str, section: str | None = None, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Paths of pages with their titles, from `nav` at any depth."""
    if not isinstance(nav, list) or depth > _MAX_NAV_DEPTH:
        return
    for entry in nav:
        if isinstance(entry, str):
            if section and posixpath.splitext(posixpath.basename(entry))[0] in _INDEX_NAMES:
                yield _join(docs_dir, entry), section
        elif isinstance(entry, dict):
            for title, target in entry.items():
                if isinstance(target, str) and "://" not in target:
                    yield _join(docs_dir, target), str(title)
                else:
                    yield from _nav_titles(target, docs_dir, str(title), depth + 1)
