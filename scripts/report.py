"""Write the ledger, the claims and the report."""

from clrepro.report import html
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    html.write(catalogue)
