# clrepro: every table and figure of the papers, at the scale of the configuration.
#   snakemake --cores all                                        the demo
#   snakemake nie2023_table_1 --cores all                        one table
#   snakemake --cores all --configfile config/bench.yaml ...     another scale
from snakemake.utils import min_version

min_version("9.27")

# a configuration that names a scale stands alone; any other overlays the demo, wherever the working directory is
if "scale" not in config:

    configfile: f"{workflow.basedir}/config.yaml"


include: "rules/common.smk"
include: "rules/start.smk"
include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/embed.smk"
include: "rules/probe.smk"
include: "rules/detect.smk"
include: "rules/simulate.smk"
include: "rules/collect.smk"
include: "rules/report.smk"


rule all:
    input:
        CATALOGUE.report_files,
        GRID_FILES,
    default_target: True


onsuccess:
    job_records.save(CATALOGUE)
    print(f"The report: {CATALOGUE.report_files[-1]}")


# what is finished is worth seeing; the rest are holes with their reasons
onerror:
    from clrepro.report import html

    try:
        job_records.save(CATALOGUE)
        html.write(CATALOGUE)
        print(f"Some jobs failed. The report of what there is: {CATALOGUE.report_files[-1]}")
    except Exception as failure:
        print(f"Some jobs failed, and the report of what there is as well: {failure}")
