"""``clrepro config``: check a configuration, or write its documentation."""

from typing import Annotated

import typer

from clrepro.cli.options import Files, Scale, Settings, catalogue_of
from clrepro.errors import unknown
from clrepro.paths import checkout


def config(
    what: Annotated[str, typer.Argument(help="check, docs or schema")] = "check",
    scale: Scale = "demo",
    configfile: Files = None,
    settings: Settings = None,
) -> None:
    """Check a configuration; print its JSON schema; or rewrite docs/config.md and docs/config.schema.json."""
    from clrepro.cli import config_pages

    if what == "schema":
        print(config_pages.schema(), end="")
    elif what == "docs":
        folder = checkout("`clrepro config docs` rewrites a checkout's docs/") / "docs"
        for name, text in (
            ("config.md", config_pages.reference()),
            ("config.schema.json", config_pages.schema()),
        ):
            (folder / name).write_text(text, "utf-8")
    elif what == "check":
        catalogue = catalogue_of(scale, configfile, settings=settings)
        catalogue.check_inputs()
        print(f"valid: {len(catalogue.tables)} tables, {len(catalogue.runs)} runs at {catalogue.config.scale} scale")
    else:
        raise unknown("action", what, ["check", "docs", "schema"])
