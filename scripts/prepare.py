"""Make a backbone ready and tokenise the corpus for it."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    folder = Path(snakemake.output[0]).parent
    stages.prepare(catalogue, next(build for build in catalogue.backbones() if build.folder == folder))
