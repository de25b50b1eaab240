"""``clrepro records`` and ``verify``: Snakemake's job records, and the files that they state."""

import sys
from typing import Annotated

import typer

from clrepro.cli.options import Files, Scale, Settings, catalogue_of


def records(
    scale: Scale = "demo",
    configfile: Files = None,
    settings: Settings = None,
    load: Annotated[bool, typer.Option("--load", help="the other way: put stored records back")] = False,
) -> None:
    """Write Snakemake's job records to results/<scale>/provenance.jsonl, as the workflow itself does at its end."""
    from clrepro import stages
    from clrepro.workflow import records as job_records

    catalogue = catalogue_of(scale, configfile, settings=settings)
    scale = catalogue.config.scale
    if not load:
        job_records.save(scale, catalogue.sources())
    elif job_records.load(scale):
        stages.adopt(catalogue.runs)
    print(job_records.stored(scale))


def verify(scale: Scale = "demo", configfile: Files = None, settings: Settings = None) -> None:
    """Compare data, models and results on disk with every sha256 that the scale's records state."""
    from clrepro.catalogue.jobs import Jobs
    from clrepro.workflow.verify import verify as compare

    catalogue = catalogue_of(scale, configfile, settings=settings)
    manifests = Jobs(catalogue).manifests
    count, problems = compare(catalogue.config.scale, catalogue.sources(), manifests)
    for problem in problems:
        print(problem)
    print(f"{count} files compared with their sha256, {len(problems)} missing or changed")
    if problems:
        sys.exit(1)
