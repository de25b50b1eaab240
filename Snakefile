# clrepro: every table and figure of the papers, at the scale of the configuration.
#   snakemake --cores all                                        the demo
#   snakemake nie2023_table_1 --cores all                        one table
#   snakemake --cores all --configfile config/bench.yaml ...     another scale
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")

from clrepro import config as configuration

# a configuration that names a scale stands alone; any other overlays the demo, wherever the working directory is.
# Not by `configfile:`, which Snakemake skips in a module that is handed a configuration
if "scale" not in config:
    config = configuration.merge(configuration.read(Path(workflow.snakefile).with_name("config.yaml")), config)


include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/evaluate.smk"
include: "rules/simulate.smk"
include: "rules/collect.smk"
include: "rules/report.smk"
include: "rules/targets.smk"


rule all:
    input:
        FILES.report,
        GRIDS,
    default_target: True


onstart:
    start.end_orphans(RUN)
    start.remove_submission_limit(workflow)


onsuccess:
    records.save(CONFIG.scale, CATALOGUE.sources())
    print(f"The report: {FILES.report[-1]}")


onerror:
    report_of_what_there_is()
