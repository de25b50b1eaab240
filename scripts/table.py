"""Write a table with our numbers beside the published ones."""

from clrepro.catalogue import Catalogue
from clrepro.report import tables
from clrepro.stages.job import job

with job(snakemake) as config:
    catalogue = Catalogue(config, whole=False)
    tables.write(catalogue, catalogue.table(*snakemake.wildcards.part.split("/")))
