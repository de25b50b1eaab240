"""The documentation site, without building it: every page has its place, every link leads somewhere."""

import importlib.util
import logging
import re

import pytest
import yaml

from clrepro.paths import ROOT

specification = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "hooks.py")
hooks = importlib.util.module_from_spec(specification)
specification.loader.exec_module(hooks)

REPOSITORY = "https://host.example/someone/clrepro"
SITES = {
    "README.md": "index.md",
    "docs/xray.md": "xray.md",
    "docs/objectives/README.md": "objectives/README.md",
    "docs/objectives/dcl.md": "objectives/dcl.md",
    "docs/images/report.png": "images/report.png",
    "results/reference/paper/figures/a/b.svg": "results/reference/paper/figures/a/b.svg",
}


class Settings(yaml.SafeLoader):
    """mkdocs.yml names variables of the environment."""


Settings.add_constructor("!ENV", lambda loader, node: f"${node.value}")


def settings() -> dict:
    return yaml.load((ROOT / "mkdocs.yml").read_text("utf-8"), Settings)


def documents() -> dict[str, str]:
    """Every file of docs/ and what else is on the site: {path in the repository: path on the site}."""
    files = [file for file in (ROOT / "docs").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return {
        f"docs/{place}": place for file in files if (place := str(file.relative_to(ROOT / "docs")))
    } | hooks.outside()


def leaves(nav: list | dict | str) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [leaf for part in (nav.values() if isinstance(nav, dict) else nav) for leaf in leaves(part)]


def test_every_page_stands_in_the_navigation_once():
    pages = [place for place in documents().values() if place.endswith((".md", ".html"))]
    assert sorted(leaves(hooks.grown(settings()["nav"], pages))) == sorted(pages)


def test_the_navigation_grows_with_its_folders_and_leaves_out_what_is_not_made():
    nav = [
        {"Results": ["results/reference/*/tables/*/*.md", {"Report": "results/demo/report.html"}]},
        "objectives/*.md",
    ]
    table = "results/reference/bench/tables/li2024/table_3.md"
    pages = ["objectives/README.md", "objectives/mine.md", table]
    grown = hooks.grown(nav, pages)
    assert grown == [{"Results": [{"li2024, table 3, bench scale": table}]}, "objectives/mine.md"]
    assert leaves(hooks.grown(nav, [*pages, "results/demo/report.html"])) == [
        table,
        "results/demo/report.html",
        "objectives/mine.md",
    ]


@pytest.mark.parametrize(
    ("page", "link", "on_site"),
    [
        ("README.md", "[x](docs/xray.md#how)", "[x](xray.md#how)"),
        ("README.md", "![x](docs/images/report.png)", "![x](images/report.png)"),
        ("README.md", "[`papers/*`](papers)", f"[`papers/*`]({REPOSITORY}/tree/HEAD/papers)"),
        ("docs/xray.md", "[x](objectives/dcl.md)", "[x](objectives/dcl.md)"),
        ("docs/objectives/dcl.md", "[x](../../README.md)", "[x](../index.md)"),
        ("docs/objectives/dcl.md", "[x](README.md)", "[x](README.md)"),
        ("docs/xray.md", "[`y`](../src/clrepro/paths.py#L3)", f"[`y`]({REPOSITORY}/blob/HEAD/src/clrepro/paths.py#L3)"),
        (
            "docs/objectives/dcl.md",
            "![x](../../results/reference/paper/figures/a/b.svg)",
            "![x](../results/reference/paper/figures/a/b.svg)",
        ),
        ("docs/xray.md", "[x](https://host.example/a.md), [y](#how), [z](mailto:a@b.c)", None),
        ("docs/xray.md", "```markdown\n[x](../src/clrepro/paths.py)\n```", None),
        ("README.md", "<!--demo.cells-->12<!--/--> of [these](docs/xray.md)", "12 of [these](xray.md)"),
    ],
)
def test_links_lead_to_the_site_or_to_the_repository(page, link, on_site):
    assert hooks.rewritten(f"a\n{link}\nb", page, SITES, REPOSITORY + "/") == f"a\n{on_site or link}\nb"


def test_without_a_repository_a_link_to_it_is_text():
    assert (
        hooks.rewritten("[`a`](../src/clrepro/paths.py), [b](xray.md)", "docs/xray.md", SITES, None)
        == "`a`, [b](xray.md)"
    )


@pytest.mark.parametrize("link", ["[x](nowhere.md)", "[x](../src/nothing.py)", "![x](../Dockerfile)"])
def test_a_link_to_nothing_and_a_picture_that_is_left_behind_are_warnings(link, caplog):
    hooks.rewritten(link, "docs/xray.md", SITES, REPOSITORY)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


def test_every_link_of_every_page_leads_somewhere(caplog):
    sites = documents()
    pages = [path for path in sites if path.endswith(".md")]
    assert len(pages) > 50
    for page in pages:
        text = hooks.rewritten((ROOT / page).read_text("utf-8"), page, sites, REPOSITORY)
        assert not hooks.MARK.search(re.sub(hooks.FENCED, "", text)), page
    assert caplog.messages == []


def test_the_site_asks_no_other_server_for_anything():
    found = settings()
    assert found["strict"] is True
    assert found["theme"]["font"] is False
    sources = [*found.get("extra_javascript", []), *found["extra_css"], (ROOT / "docs/site.css").read_text("utf-8")]
    assert not [text for text in sources if "//" in text]
