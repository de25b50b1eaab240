"""The HTML report: one self-contained page that answers "what reproduced?" and leads to the run behind every number.

``render`` turns plain data into the page and reads nothing but this folder: templates (``*.html.j2``, one a section),
two style sheets and four scripts, which become one each. The page works from disk without network. Its tables are
readable without JavaScript; the script adds sorting, filters, and the dialogs of cells and runs, built from a JSON
block.
"""

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from clrepro.report.page import drawing, shaping, verdicts, words
from clrepro.report.page.contract import complete

FOLDER = Path(__file__).parent
STYLES = ("base.css", "sections.css")
SCRIPTS = ("dialogs.js", "tables.js", "sections.js")  # after records.js, on which they rest


def render(data: dict) -> str:
    """The report as HTML, the same bytes for the same data; every part of `data` may be absent or empty.

    Text from `data` is escaped, and the content security policy names the page's one script and one style sheet by
    their hashes, so that nothing else can run, whatever a record holds.
    """
    style = joined(STYLES)
    script = text("records.js") + joined(SCRIPTS)
    page = complete(data)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            style=style,
            script=script,
            style_hash=hashed(style),
            script_hash=hashed(script),
            payload=Markup(shaping.payload(page)),
        )
    )


def text(name: str) -> Markup:
    return Markup((FOLDER / name).read_text("utf-8"))


def joined(names: Iterable[str]) -> Markup:
    """The files' texts with a blank line between them."""
    return Markup("\n").join(map(text, names))


def environment() -> Environment:
    """Templates with everything escaped, an unknown name an error, and the words, numbers and drawings they use."""
    result = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.filters.update(
        number=words.number,
        signed=words.signed,
        short=words.short,
        plain=words.plain,
        duration=words.duration,
        address=words.address,
        named=words.named,
        kind=verdicts.kind,
        ordered=verdicts.ordered,
    )
    result.globals.update(
        meanings=verdicts.MEANINGS,
        glossary=shaping.glossary,
        heading=shaping.heading,
        order=shaping.order,
        room=shaping.room,
        answer=verdicts.answer,
        results=verdicts.results,
        sections=shaping.sections,
        header=shaping.header,
        is_open=shaping.is_open,
        is_result=shaping.is_result,
        table_counts=shaping.table_counts,
        bound=shaping.bound,
        first=shaping.first_of,
        bar=drawing.bar,
        interval=drawing.interval,
        share=drawing.share,
    )
    return result


def hashed(block: str) -> str:
    """A source expression of a content security policy for one inline block."""
    return f"sha256-{base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()}"
