"""Semantic textual similarity of stored embeddings."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    stages.sts(catalogue, [catalogue.run_at(Path(file).parent) for file in snakemake.output])
