"""What mkdocs does for the site besides: pages that lie outside docs/, links that leave it, lists that grow.

Pages are written for the repository, where they have to work as they stand. On the site README.md is the first page,
the reference results and the demo's report lie beside the documentation, and what is not on the site is linked in the
repository, at `extra.repository` of mkdocs.yml. A link to what does not exist is a warning, which ends a strict build.
"""

import logging
import re
from fnmatch import fnmatchcase
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

ROOT = Path(__file__).parents[1]
DOCS = "docs/"
# files of the repository that are on the site, with their place there; a pattern's files keep their paths
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "results/demo/report.html": None,
    "results/reference/paper/theory.md": None,
    "results/reference/*/tables/*/*.md": None,
    "results/reference/*/figures/*/*.svg": None,
}
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.M | re.S)
LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<path>[^()\s:#]+)(?P<anchor>#[^()\s]*)?\)"
)
MARK = re.compile(r"<!--/?[\w./]*-->")  # where `make readme` and mutation testing write; only the repository needs them

log = logging.getLogger("mkdocs.plugins.site")


def outside() -> dict[str, str]:
    """Files outside docs/ that are on the site, as far as they exist: {path in the repository: path on the site}."""
    found = {}
    for pattern, place in OUTSIDE.items():
        for file in sorted(ROOT.glob(pattern)):
            path = file.relative_to(ROOT).as_posix()
            found[path] = place or path
    return found


def rewritten(text: str, page: str, sites: dict[str, str], repository: str | None) -> str:
    """A page's Markdown with its relative links as the site needs them, and without the marks of generated parts.

    page: its path in the repository. sites: {path in the repository: path on the site} of whatever is on the site.
    repository: the url of the repository's page; without one, links that would lead there are only their text.
    """

    def on_site(match: re.Match) -> str:
        target = normpath(join(dirname(page), match["path"]))
        anchor = match["anchor"] or ""
        label = f"{match['picture']}[{match['text']}]"
        if target in sites:
            return f"{label}({relpath(sites[target], dirname(sites[page]) or '.')}{anchor})"
        if not (ROOT / target).exists():
            log.warning("%s links to %s, which does not exist", page, target)
        elif match["picture"]:
            log.warning(
                "%s shows %s, which is not on the site: OUTSIDE of docs/hooks.py can bring it there", page, target
            )
        elif repository:
            kind = "tree" if (ROOT / target).is_dir() else "blob"
            return f"{label}({repository.rstrip('/')}/{kind}/HEAD/{target}{anchor})"
        return match["text"]

    parts = FENCED.split(text)  # what stands in code blocks are no links
    parts[::2] = [LINK.sub(on_site, MARK.sub("", part)) for part in parts[::2]]
    return "".join(parts)


def grown(nav: list | dict | str, pages: list[str]) -> list | dict | str | None:
    """The navigation with patterns replaced by the pages that match, and without pages that were not made."""
    if isinstance(nav, list):
        parts = [grown(part, pages) for part in nav]
        lists = [part if isinstance(part, list) else [part] for part in parts]
        return [part for one in lists for part in one if part]
    if isinstance(nav, dict):
        parts = {title: grown(part, pages) for title, part in nav.items()}
        return {title: part for title, part in parts.items() if part}
    if "*" in nav:
        return [titled(page) for page in sorted(pages) if fnmatchcase(page, nav) and not page.endswith("README.md")]
    return None if nav in OUTSIDE and nav not in pages else nav


def titled(page: str) -> str | dict[str, str]:
    """A table of results by paper and scale, since it begins without a heading; any other page by its own."""
    match = re.fullmatch(r"results/reference/(\w+)/tables/(\w+)/(\w+)\.md", page)
    return {f"{match[2]}, {match[3].replace('_', ' ')}, {match[1]} scale": page} if match else page


def on_config(config):
    if config.extra["repository"]:
        link = {"icon": "fontawesome/brands/git-alt", "name": "the repository", "link": config.extra["repository"]}
        config.extra["social"] = [link]


def on_files(files, config):
    from mkdocs.structure.files import File

    for path, place in outside().items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    config.nav = grown(config.nav, [file.src_uri for file in files])
    return files


def on_page_markdown(markdown, page, config, files):
    sites = {DOCS + file.src_uri: file.src_uri for file in files if not file.generated_by} | outside()
    paths = {place: path for path, place in sites.items()}
    if page.is_homepage:  # it stands alone in its part of the navigation
        page.meta["hide"] = ["navigation"]
    return rewritten(markdown, paths[page.file.src_uri], sites, config.extra["repository"])
