"""Compute and draw one figure that needs no trained encoder."""

from pathlib import Path

from clrepro import simulation
from clrepro.stages.job import job

with job(snakemake):
    simulation.write(snakemake.params.study, snakemake.params.settings, Path(snakemake.output[0]).with_suffix(""))
