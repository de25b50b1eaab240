"""Train a bundle of runs."""

from pathlib import Path

from clrepro import stages
from clrepro.modalities import run_from
from clrepro.stages.job import job
from clrepro.workflow import manifest

with job(snakemake) as config:
    runs = [run_from(given) for given in snakemake.params.runs]
    stages.train(runs, config)
    manifest.write(Path(snakemake.output[0]), [file for run in runs for file in run.files])
