"""The site that a mkdocs project publishes: URLs, navigation titles, redirects, dead links."""

from __future__ import annotations

import functools
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pathspec
import yaml

from adk_evidence.readers.pages.headings import slugify
from adk_evidence.readers.pages.markdown import read_markdown
from adk_ingest.chunking.base import SourceFile
from adk_ingest.sources.foreign_yaml import load_foreign_yaml

CONFIG_FILES = ("mkdocs.yml", "mkdocs.yaml")
_PAGE_EXTENSIONS = (".md", ".markdown", ".mdown", ".mkdn", ".mkd")
_INDEX_NAMES = ("index", "README")
# What mkdocs itself leaves out (its default exclude_docs).
_DEFAULT_EXCLUDES = (".*", "/templates/")
_MAX_CONFIG_BYTES = 1_000_000
_MAX_REDIRECTS = 20
_MAX_NAV_DEPTH = 20

_LINK = re.compile(r"\]\([ \t]*<?([^\s()<>]+)")
_REFERENCE = re.compile(r"^ {0,3}\[[^\[\]]+\]:[ \t]*<?([^\s<>]+)")
_CODE_SPAN = re.compile(r"`[^`]*`")
_HTML_ID = re.compile(r"\s(?:id|name)=[\"']?([^\s\"'<>=]+)")
_ATTRIBUTE_ID = re.compile(r"\{:?[^{}]*#([^\s{}]+)[^{}]*\}")


@dataclass(frozen=True)
class MkdocsSite:
    """A project that `MkdocsSite.load` read. Paths are relative to the repository.

    `configuration` is what the project's file says, as a text that changes with it.
    """

    site_url: str | None
    docs_dir: str
    use_directory_urls: bool
    titles: Mapping[str, str]
    redirects: Mapping[str, str]
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
            redirects=_redirect_maps(config.get("plugins"), docs_dir),
            pages=_list_pages(root, docs_dir),
            excluded=pathspec.GitIgnoreSpec.from_lines(chain(_DEFAULT_EXCLUDES, *left_out)),
            warnings=tuple(warnings),
            configuration=_as_text(config, warnings),
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

    def resolve(self, linked: str) -> str | None:
        """The page that answers for a path of the site or of the repository, redirects followed.

        Returns:
            A path of `pages`, the URL where a redirect leaves the site, or None where no page answers.
        """
        path = self._to_path(linked)
        for _ in range(_MAX_REDIRECTS):
            if path is None or path in self.pages or "://" in path:
                return path
            path = self.redirects.get(path)
        return None

    @property
    def superseded(self) -> list[str]:
        """The pages `README.md` that are published under their own names, because an `index.md` lies beside them."""
        readmes = (page for page in self.pages if posixpath.basename(page) == "README.md")
        return sorted(page for page in readmes if posixpath.join(posixpath.dirname(page), "index.md") in self.pages)

    @functools.cached_property
    def _by_location(self) -> dict[str, str]:
        # A page wins over a redirect from the same place.
        return {self._location(path): path for path in (*self.redirects, *sorted(self.pages))}

    def _to_path(self, linked: str) -> str | None:
        for path in (linked, _join(self.docs_dir, linked.lstrip("/"))):
            if path in self.pages or path in self.redirects:
                return path
        location = linked.lstrip("/").removesuffix("index.html")
        return self._by_location.get(location) or self._by_location.get(location.rstrip("/") + "/")

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


def _as_text(config: dict[str, Any], warnings: list[str]) -> str:
    try:
        return repr((config, warnings))
    except RecursionError:
        return ""


def _read_config(root: Path) -> tuple[dict[str, Any], list[str]]:
    for name in CONFIG_FILES:
        path = root / name
        try:
            if not path.is_file():
                continue
            if path.stat().st_size > _MAX_CONFIG_BYTES:
                return {}, [f"{name} is larger than {_MAX_CONFIG_BYTES} bytes and was not read."]
            config = load_foreign_yaml(path.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
            return {}, [f"{name} cannot be read; titles and redirects are missing."]
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


def _redirect_maps(plugins: object, docs_dir: str) -> dict[str, str]:
    """The map of the plugin mkdocs-redirects; targets on the site lose their fragment."""
    entries = plugins if isinstance(plugins, list) else [plugins]
    redirects: dict[str, str] = {}
    for entry in entries:
        options = entry.get("redirects") if isinstance(entry, dict) else None
        maps = options.get("redirect_maps") if isinstance(options, dict) else None
        for old, new in maps.items() if isinstance(maps, dict) else ():
            if isinstance(old, str) and isinstance(new, str):
                redirects[_join(docs_dir, old)] = new if "://" in new else _join(docs_dir, new.split("#")[0])
    return redirects


def check_links(pages: Sequence[SourceFile], site: MkdocsSite | None = None) -> list[str]:
    """A sentence for each link to a page or anchor that does not exist.

    `pages` are all Markdown pages of the corpus. Only relative links to Markdown pages are checked and, with a site,
    links from its root (`/agents/#anchor`); links in code, to other sites and to other files are not. With a site, a
    link to a page that was moved holds if a redirect leads on.
    """
    anchors: dict[str, set[str]] = {}
    links: list[tuple[str, int, str]] = []
    for page in pages:
        # Every run needs those of all pages, and changes few of them.
        own, found = page.derived("anchors and links", functools.partial(_anchors_and_links, page))
        anchors[page.path] = set(own)
        links += [(page.path, line, target) for line, target in found]
    broken = []
    for path, line, target in links:
        if target.startswith("/") and site is None:
            continue
        location, _, fragment = target.partition("#")
        linked = _linked_path(path, unquote(location))
        if linked not in anchors and site:
            linked = site.resolve(linked) or linked
        if linked not in anchors:
            if "://" not in linked:
                broken.append(f"{path}:{line}: {target}: there is no page {linked}.")
        elif fragment and unquote(fragment) not in anchors[linked]:
            broken.append(f"{path}:{line}: {target}: {linked} has no anchor #{fragment}.")
    return broken


def _linked_path(page: str, location: str) -> str:
    if not location or location.startswith("/"):
        return location or page
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), location))


def _anchors_and_links(page: SourceFile) -> tuple[list[str], list[tuple[int, str]]]:
    """The anchors of a page, and its links with their lines."""
    lines = page.lines
    structure = read_markdown(lines)
    anchors = {*structure.anchors(), *(slugify(label) for label in structure.tab_labels)}
    links = []
    for number, line in enumerate(lines):
        if structure.fence_at[number] is not None:
            continue
        if "=" in line:
            anchors.update(_HTML_ID.findall(line))
        if "{" in line and "#" in line:
            anchors.update(_ATTRIBUTE_ID.findall(line))
        if "](" in line or "]:" in line:
            text = _CODE_SPAN.sub("", line)
            targets = [*_LINK.findall(text), *_REFERENCE.findall(text)]
            links += [(number + 1, target) for target in targets if _is_checked(target)]
    return sorted(anchors), links


def _is_checked(target: str) -> bool:
    location = target.partition("#")[0]
    if location.startswith("//") or ":" in location or "?" in location:
        return False
    is_folder = location.startswith("/") and location.endswith("/")
    return not location or is_folder or location.lower().endswith(_PAGE_EXTENSIONS)
