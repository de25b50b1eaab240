"""Write a paper's tables that no runs fill: settings, formulas, quoted numbers, holes."""

from pathlib import Path

from clrepro.catalogue import Catalogue
from clrepro.report import tables
from clrepro.stages.job import job
from clrepro.workflow import manifest

with job(snakemake) as config:
    catalogue = Catalogue(config, whole=False)
    files = []
    for name in snakemake.params.tables:
        table = catalogue.table(snakemake.wildcards.paper, name)
        tables.write(catalogue, table)
        files += catalogue.files.of_table(table)
    manifest.write(Path(snakemake.output[0]), files)
