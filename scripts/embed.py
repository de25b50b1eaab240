"""Embed the test sentences with a bundle of checkpoints."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    stages.embed(catalogue, [catalogue.run_at(Path(file).parent) for file in snakemake.output])
