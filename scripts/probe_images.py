"""Probes of a bundle's stored image features."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    folders = dict.fromkeys(Path(file).parent for file in snakemake.output)
    stages.probe_images(catalogue, [catalogue.run_at(folder) for folder in folders])
