# Tables and figures from records. They take seconds, less than it takes to hand a job over: they run where Snakemake
# does. A table without runs (settings, formulas, quoted numbers, holes) shares a job with the others of its paper.
FIGURES = {f"{figure.paper}/{figure.name}": figure for figure in CATALOGUE.figures}
GRID_RUNS = {str(FILES.grid(name).relative_to(f"{ROOT}/grids"))[: -len(".csv")]: name for name in CATALOGUE.grids}
GRIDS = [FILES.grid(name) for name in CATALOGUE.grids]


rule table:
    input:
        lambda wildcards: JOBS.table_inputs(TABLES[wildcards.part]),
    output:
        f"{ROOT}/tables/{{part}}.csv",
        f"{ROOT}/tables/{{part}}.md",
        f"{ROOT}/tables/{{part}}.tex",
        shown(f"{ROOT}/tables/{{part}}.html"),
    wildcard_constraints:
        part=one_of(TABLES),
    params:
        missing=lambda wildcards: lost(f"{ROOT}/tables/{wildcards.part}.csv"),
        paper=lambda wildcards: paper_parts(paper_of(wildcards), "published", "experiments", "errata"),
        config=IN_TABLES,
        code=fingerprint.of_stage("table"),
    log:
        f"{LOGS}/tables/{{part}}.log",
    conda:
        "../envs/data.yaml"
    localrule: True
    script:
        "../scripts/table.py"


rule printed_tables:
    output:
        FILES.manifest("printed", "{paper}"),
    params:
        tables=lambda wildcards: [table.name for table in PRINTED[wildcards.paper]],
        missing=lambda wildcards: lost(FILES.manifest("printed", wildcards.paper)),
        paper=lambda wildcards: paper_parts(wildcards.paper, "published", "experiments", "errata"),
        config=IN_TABLES,
        code=fingerprint.of_stage("table"),
    log:
        f"{LOGS}/tables/{{paper}}/printed.log",
    conda:
        "../envs/data.yaml"
    localrule: True
    script:
        "../scripts/printed_tables.py"


rule figure:
    input:
        lambda wildcards: JOBS.figure_inputs(FIGURES[wildcards.part]),
    output:
        shown(f"{ROOT}/figures/{{part}}.svg"),
        f"{ROOT}/figures/{{part}}.png",
        f"{ROOT}/figures/{{part}}.csv",
    wildcard_constraints:
        part=one_of(name for name, figure in FIGURES.items() if figure.points),
    params:
        paper=lambda wildcards: paper_parts(paper_of(wildcards), "published", "experiments"),
        config=IN_TABLES,
        code=fingerprint.of_stage("figure"),
    log:
        f"{LOGS}/figures/{{part}}.log",
    conda:
        "../envs/data.yaml"
    localrule: True
    script:
        "../scripts/figure.py"


# a figure of which this configuration trains no run: its list of holes, and no picture
use rule figure as empty_figure with:
    output:
        f"{ROOT}/figures/{{part}}.csv",
    wildcard_constraints:
        part=one_of(name for name, figure in FIGURES.items() if not figure.points),
    log:
        f"{LOGS}/figures/{{part}}.log",


rule grid:
    input:
        lambda wildcards: JOBS.trained(CATALOGUE.grids[GRID_RUNS[wildcards.grid]]),
    output:
        f"{ROOT}/grids/{{grid}}.csv",
    wildcard_constraints:
        grid=".+",
    params:
        grid=lambda wildcards: GRID_RUNS[wildcards.grid],
        code=fingerprint.of_stage("table"),
    log:
        f"{LOGS}/grids/{{grid}}.log",
    conda:
        "../envs/data.yaml"
    localrule: True
    script:
        "../scripts/grid.py"
