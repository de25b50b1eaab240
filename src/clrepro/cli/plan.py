"""``clrepro plan``: what a scale would run, and what it would cost."""

from typing import Annotated

import typer

from clrepro.cli.options import Files, Only, Scale, Settings, catalogue_of


def plan(
    scale: Scale = "demo",
    only: Only = None,
    configfile: Files = None,
    settings: Settings = None,
    figures: Annotated[bool, typer.Option("--figures", help="price each figure's runs")] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="time steps of every kind of training here, and price from that")
    ] = False,
    grids: Annotated[bool, typer.Option("--grids", help="price the papers' grid searches as well")] = False,
) -> None:
    """List what a scale would run, in jobs, hours and disk, before anything starts."""
    from clrepro.catalogue.gpus import parts_of
    from clrepro.cli import plan_gpus, plan_tables

    catalogue = catalogue_of(scale, configfile, only, settings=settings)
    tabled = {run for table in catalogue.tables for run in table.runs}
    plan_tables.print_tables(catalogue, tabled)
    plan_tables.print_jobs(catalogue)
    parts = parts_of(catalogue) if catalogue.config.device == "cuda" else []
    plan_tables.print_limits(parts[-1].catalogue if parts else catalogue)
    for part in parts:
        plan_gpus.print_hours(part)
    if parts:
        print("None was measured. A V100 needs an older torch than the locked one (compute capability 7.0).")
    plan_tables.print_sources(catalogue)
    plan_tables.print_simulations(catalogue)
    if figures:
        plan_tables.print_figures(catalogue, tabled)
    if grids:
        plan_tables.print_grids(catalogue)
    if measure:
        from clrepro.cli.plan_measured import print_measured

        print_measured(catalogue)
