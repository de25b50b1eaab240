"""Write tables with our numbers beside the published ones."""

from clrepro.ledger import Records
from clrepro.report import tables
from clrepro.stages.job import job

with job(snakemake) as catalogue:
    records = Records()
    for table in catalogue.tables:
        if f"{table.paper}/{table.name}" in snakemake.params.tables:
            tables.write(catalogue, table, records)
