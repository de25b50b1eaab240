"""``clrepro records`` and ``verify``: Snakemake's job records, and the files that they state."""

import sys

from clrepro.cli.options import Files, Scale, catalogue_of


def records(scale: Scale = "demo", configfile: Files = None) -> None:
    """Write Snakemake's job records to results/<scale>/provenance.jsonl, as the workflow itself does at its end."""
    from clrepro.workflow import records as job_records

    catalogue = catalogue_of(scale, configfile)
    job_records.save(catalogue)
    print(job_records.stored(catalogue))


def verify(scale: Scale = "demo", configfile: Files = None) -> None:
    """Compare data, models and results on disk with every sha256 that the scale's records state."""
    from clrepro.workflow.verify import verify as compare

    count, problems = compare(catalogue_of(scale, configfile))
    for problem in problems:
        print(problem)
    print(f"{count} files compared with their sha256, {len(problems)} missing or changed")
    if problems:
        sys.exit(1)
