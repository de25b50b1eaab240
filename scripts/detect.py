"""Fine-tune a bundle's encoders as detectors."""

from pathlib import Path

from clrepro import stages
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    stages.detect(catalogue, [catalogue.run_at(Path(file).parent) for file in snakemake.output])
