"""What a mkdocs project publishes, and links that lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_ingest.chunking.base import SourceFile
from adk_ingest.sources import mkdocs_site
from adk_ingest.sources.mkdocs_site import MkdocsSite, check_links

CONFIG = """\
site_name: Example
site_url: https://docs.example.org
exclude_docs: |
  /_includes/**
markdown_extensions:
  - emoji:
      generator: !!python/name:material.extensions.emoji.to_svg
  - tabbed:
      slugify: !!python/object/apply:os.system ["echo pwned > pwned"]
plugins:
  - search
  - redirects:
      redirect_maps:
        'old.md': 'guide/setup.md#install'
        'older.md': 'old.md'
        'away.md': 'https://elsewhere.example.org/x'
        'loop-a.md': 'loop-b.md'
        'loop-b.md': 'loop-a.md'
nav:
  - Home: index.md
  - Guide:
      - guide/index.md
      - Setting up: guide/setup.md
      - Deeper:
          - Topics: guide/deep/topics.md
  - Elsewhere: https://elsewhere.example.org/
"""
PAGES = ("index.md", "guide/index.md", "guide/setup.md", "guide/deep/topics.md", "notes/README.md", "_includes/part.md")


def project(root: Path, config: str | None = CONFIG) -> Path:
    for name in PAGES:
        page = root / "docs" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("# Page\n")
    if config is not None:
        (root / "mkdocs.yml").write_text(config)
    return root


@pytest.fixture
def site(tmp_path: Path) -> MkdocsSite:
    return MkdocsSite.load(project(tmp_path), "https://ignored.example.org/")


class TestUrls:
    @pytest.mark.parametrize(
        ("path", "url"),
        [
            ("docs/index.md", "https://docs.example.org/"),
            ("docs/guide/index.md", "https://docs.example.org/guide/"),
            ("docs/guide/setup.md", "https://docs.example.org/guide/setup/"),
            ("docs/notes/README.md", "https://docs.example.org/notes/"),
            ("docs/a b/ü.md", "https://docs.example.org/a%20b/%C3%BC/"),
            ("docs/assets/data.json", "https://docs.example.org/assets/data.json"),
            ("docs/_includes/part.md", None),
            ("docs/.hidden.md", None),
            ("README.md", None),
            ("docsx/index.md", None),
        ],
    )
    def test_each_published_page_has_one(self, site: MkdocsSite, path: str, url: str | None) -> None:
        assert site.url_for(path) == url

    def test_without_directory_urls(self, tmp_path: Path) -> None:
        site = MkdocsSite.load(project(tmp_path, CONFIG + "use_directory_urls: false\n"), None)
        assert site.url_for("docs/guide/setup.md") == "https://docs.example.org/guide/setup.html"
        assert site.url_for("docs/guide/index.md") == "https://docs.example.org/guide/index.html"
        assert site.resolve("/guide/setup.html") == "docs/guide/setup.md"

    def test_the_given_address_holds_where_the_project_names_none(self, tmp_path: Path) -> None:
        site = MkdocsSite.load(project(tmp_path, "site_name: x\n"), "https://given.example.org")
        assert site.url_for("docs/index.md") == "https://given.example.org/"
        assert MkdocsSite.load(tmp_path, None).url_for("docs/index.md") is None

    def test_the_default_of_an_environment_tag_is_taken(self, tmp_path: Path) -> None:
        config = "site_url: !ENV [SITE_URL, 'https://default.example.org']\nsite_name: !ENV NAME\n"
        assert MkdocsSite.load(project(tmp_path, config), None).site_url == "https://default.example.org/"

    def test_another_docs_folder(self, tmp_path: Path) -> None:
        (tmp_path / "pages").mkdir()
        (tmp_path / "mkdocs.yml").write_text("site_url: https://x.example.org/\ndocs_dir: pages\n")
        assert MkdocsSite.load(tmp_path, None).url_for("pages/a.md") == "https://x.example.org/a/"


class TestConfig:
    def test_tags_construct_nothing(self, site: MkdocsSite, tmp_path: Path) -> None:
        assert site.warnings == ()
        assert not (tmp_path / "pwned").exists()
        assert not Path("pwned").exists()

    @pytest.mark.parametrize("values", ["nested", "itself"])
    def test_aliases_that_stand_for_too_much_are_not_followed(self, tmp_path: Path, values: str) -> None:
        levels = ["a0: &a0 [page.md, page.md]"]
        levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
        nested = "\n".join(levels) + "\nnav: *a9\n"
        (tmp_path / "mkdocs.yml").write_text(
            nested if values == "nested" else "nav: &nav [Home: index.md, All: *nav]\n"
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(mkdocs_site, "_nav_titles", lambda nav, *rest: [] if nav is None else pytest.fail("followed"))
            site = MkdocsSite.load(tmp_path, None)
        assert site.warnings == ("mkdocs.yml cannot be read; titles and redirects are missing.",)

    def test_aliases_of_a_few_values_are_followed(self, tmp_path: Path) -> None:
        (tmp_path / "mkdocs.yml").write_text("x: &pages [Start: start.md]\nnav: [Guide: *pages]\n")
        site = MkdocsSite.load(tmp_path, None)
        assert not site.warnings and site.title_for("docs/start.md") == "Start"

    def test_a_project_without_mkdocs_yml_has_the_defaults(self, tmp_path: Path) -> None:
        site = MkdocsSite.load(project(tmp_path, None), "https://x.example.org/")
        assert site.url_for("docs/guide/setup.md") == "https://x.example.org/guide/setup/"
        assert site.title_for("docs/guide/setup.md") is None
        assert MkdocsSite.load(tmp_path / "gone", None).pages == frozenset()

    @pytest.mark.parametrize(
        "config",
        ["nav: [", "- a list\n", "nav: {a: [{b: 3}]}\nplugins: x\nexclude_docs: [1]\n", "a: " + "[" * 2000, "\x00"],
    )
    def test_a_broken_one_never_stops_ingestion(self, tmp_path: Path, config: str) -> None:
        site = MkdocsSite.load(project(tmp_path, config), "https://x.example.org/")
        assert site.url_for("docs/index.md") == "https://x.example.org/"

    def test_a_docs_folder_outside_the_root_is_not_read(self, tmp_path: Path) -> None:
        (tmp_path / "root").mkdir()
        (tmp_path / "secret.md").write_text("x")
        (tmp_path / "root" / "mkdocs.yml").write_text("docs_dir: ..\n")
        assert MkdocsSite.load(tmp_path / "root", None).pages == frozenset()


def test_titles_come_from_the_navigation_at_any_depth(site: MkdocsSite) -> None:
    assert site.title_for("docs/index.md") == "Home"
    assert site.title_for("docs/guide/index.md") == "Guide"
    assert site.title_for("docs/guide/setup.md") == "Setting up"
    assert site.title_for("docs/guide/deep/topics.md") == "Topics"
    assert site.title_for("docs/notes/README.md") is None


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("docs/guide/setup.md", "docs/guide/setup.md"),
        ("guide/setup.md", "docs/guide/setup.md"),
        ("/guide/setup/", "docs/guide/setup.md"),
        ("/guide/setup", "docs/guide/setup.md"),
        ("/", "docs/index.md"),
        ("/older/", "docs/guide/setup.md"),
        ("old.md", "docs/guide/setup.md"),
        ("/away/", "https://elsewhere.example.org/x"),
        ("loop-a.md", None),
        ("gone.md", None),
    ],
)
def test_a_path_leads_to_its_page(site: MkdocsSite, asked: str, found: str | None) -> None:
    assert site.resolve(asked) == found


class TestLinks:
    def broken(self, text: str, site: MkdocsSite | None = None) -> list[str]:
        pages = [
            SourceFile("docs/index.md", text, "hash"),
            SourceFile("docs/guide/setup.md", '# Set up\n\n## Install {#get}\n\n=== "Go"\n\n    x\n', "hash"),
        ]
        return check_links(pages, site)

    def test_pages_and_anchors_are_found(self) -> None:
        links = "[a](guide/setup.md) [b](guide/setup.md#get) [c](#page) [d](guide/setup.md#go) [e](<#x>)"
        good = f"# Page\n\n{links}\n<a id='x'></a>\n"
        assert self.broken(good) == []

    def test_missing_pages_and_anchors_are_reported(self) -> None:
        text = "# Page\n\n[a](guide/gone.md)\n[b](guide/setup.md#install)\n\n[c]: #nowhere\n"
        assert self.broken(text) == [
            "docs/index.md:3: guide/gone.md: there is no page docs/guide/gone.md.",
            "docs/index.md:4: guide/setup.md#install: docs/guide/setup.md has no anchor #install.",
            "docs/index.md:6: #nowhere: docs/index.md has no anchor #nowhere.",
        ]

    def test_code_other_files_and_other_sites_are_not_looked_at(self) -> None:
        text = "`[a](gone.md)` [b](image.png) [c](https://x.org/a.md) [d](/gone/) [e](mailto:a@b.md)"
        assert self.broken(f"{text}\n```\n[f](gone.md)\n```\n") == []

    def test_with_a_site_redirects_and_links_from_the_root_count(self, site: MkdocsSite) -> None:
        assert self.broken("[a](old.md) [b](/guide/setup/#get) [c](away.md) [d](/away/#x)\n", site) == []
        assert self.broken("[a](/guide/setup/#x)\n[b](/gone/)\n", site) == [
            "docs/index.md:1: /guide/setup/#x: docs/guide/setup.md has no anchor #x.",
            "docs/index.md:2: /gone/: there is no page /gone/.",
        ]
