"""Write the ledger, the claims and the report."""

from clrepro.catalogue import Catalogue
from clrepro.report import html
from clrepro.stages.job import job

with job(snakemake) as config:
    html.write(Catalogue(config))
