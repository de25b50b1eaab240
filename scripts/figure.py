"""Write what one figure plots."""

from clrepro.catalogue import Catalogue
from clrepro.report import figures
from clrepro.stages.job import job

with job(snakemake) as config:
    figures.write(Catalogue(config, whole=False), snakemake.wildcards.part)
