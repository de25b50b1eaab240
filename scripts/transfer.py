"""Transfer tasks on stored embeddings."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    stages.transfer(catalogue, [catalogue.run_at(Path(file).parent) for file in snakemake.output])
