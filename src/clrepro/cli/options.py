"""Options that several commands share, and what they stand for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from clrepro.catalogue import Catalogue

Scale = Annotated[str, typer.Option(help="demo, bench or paper")]
Files = Annotated[list[Path] | None, typer.Option("--configfile", help="overlay or replacement of the scale's file")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="a setting above all files: sentence.training.epochs=2; repeatable"
    ),
]
Mirror = Annotated[str | None, typer.Option(help="folder of already downloaded files")]
Only = Annotated[str | None, typer.Option(help="one table, as paper/table, or all of a paper")]


def catalogue_of(
    scale: str,
    files: list[Path] | None,
    only: str | None = None,
    mirror: str | None = None,
    settings: list[str] | None = None,
) -> "Catalogue":
    from clrepro import config as configuration
    from clrepro.catalogue import Catalogue

    config = configuration.load(scale, files, settings)
    if only:
        paper, _, table = only.partition("/")
        config = config.model_copy(update={"papers": [paper], "tables": [only] if table else []})
    return Catalogue(config.model_copy(update={"mirror": mirror}) if mirror else config)


def megabytes(gigabytes: float) -> str:
    return f"{gigabytes:,.1f} GB" if gigabytes >= 1 else f"{1000 * gigabytes:,.0f} MB"
