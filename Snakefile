# clrepro: every table and figure of the papers, at the scale of the configuration.
#   snakemake --cores all                                        the demo
#   snakemake nie2023_table_1 --cores all                        one table
#   snakemake --cores all --configfile config/bench.yaml ...     another scale
from snakemake.utils import min_version

min_version("9.27")

# a configuration that names a scale stands alone; any other overlays the demo
if "scale" not in config:

    configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/embed.smk"
include: "rules/probe.smk"
include: "rules/simulate.smk"
include: "rules/collect.smk"


rule all:
    input:
        TABLE_FILES,
        FIGURE_FILES,
        SIMULATION_FILES,
        CATALOGUE.theory_files,
        GRID_FILES,
    default_target: True
