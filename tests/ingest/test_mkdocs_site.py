"""What a mkdocs project publishes."""

from __future__ import annotations

from pathlib import Path

import pytest

from adk_ingest.sources.mkdocs_site import MkdocsSite

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

    def test_the_given_address_holds_where_the_project_names_none(self, tmp_path: Path) -> None:
        site = MkdocsSite.load(project(tmp_path, "site_name: x\n"), "https://given.example.org")
        assert site.url_for("docs/index.md") == "https://given.example.org/"
        assert MkdocsSite.load(tmp_path, None).url_for("docs/index.md") is None
        tagged = "site_url: !ENV [SITE_URL, 'https://default.example.org']\nsite_name: !ENV NAME\n"
        assert MkdocsSite.load(project(tmp_path, tagged), None).site_url == "https://default.example.org/"

    def test_another_docs_folder_counts_inside_the_root(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        (root / "pages").mkdir(parents=True)
        (root / "mkdocs.yml").write_text("site_url: https://x.example.org/\ndocs_dir: pages\n")
        assert MkdocsSite.load(root, None).url_for("pages/a.md") == "https://x.example.org/a/"
        (tmp_path / "secret.md").write_text("x")
        (root / "mkdocs.yml").write_text("docs_dir: ..\n")
        assert MkdocsSite.load(root, None).pages == frozenset()


class TestConfig:
    def test_tags_construct_nothing(self, site: MkdocsSite, tmp_path: Path) -> None:
        assert site.warnings == ()
        assert not (tmp_path / "pwned").exists()
        assert not Path("pwned").exists()

    def test_aliases_are_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "mkdocs.yml").write_text("nav: &nav [Home: index.md, All: *nav]\n")
        site = MkdocsSite.load(tmp_path, None)
        assert site.warnings == ("mkdocs.yml cannot be read; titles are missing.",) and not site.titles

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


def test_titles_come_from_the_navigation_at_any_depth(site: MkdocsSite) -> None:
    assert site.title_for("docs/index.md") == "Home"
    assert site.title_for("docs/guide/index.md") == "Guide"
    assert site.title_for("docs/guide/setup.md") == "Setting up"
    assert site.title_for("docs/guide/deep/topics.md") == "Topics"
    assert site.title_for("docs/notes/README.md") is None
