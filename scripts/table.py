"""Write one table with our numbers beside the published ones."""

from clrepro.report import tables
from clrepro.workflow import job

with job(snakemake) as catalogue:
    for table in catalogue.tables:
        if f"{table.paper}/{table.name}" == snakemake.params.table:
            tables.write(catalogue, table)
