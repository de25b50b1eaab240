"""Evaluate the checkpoints of a bundle's runs."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job
from clrepro.workflow import manifest

with job(snakemake) as config:
    runs = stages.asked_from(snakemake.params.runs)
    stages.evaluate_checkpoints(runs, config)
    manifest.write(Path(snakemake.output[0]), stages.evaluated_files(runs))
