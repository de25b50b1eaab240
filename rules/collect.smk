# Tables and figures from records; one rule each, named paper_table or paper_figure, and one target a paper. They take
# seconds, less than it takes to hand a job over: they run where Snakemake does.

NOT_IN_TABLES = {"mirror", "device", "jobs", "hardware", "simulation", "papers", "figures", "grids"}

for table in CATALOGUE.tables:
    if table.runs:

        rule:
            name:
                table.target
            input:
                CATALOGUE.table_inputs(table),
            output:
                shown(CATALOGUE.table_files(table), f"{table.paper}/{table.name}"),
            params:
                tables=[f"{table.paper}/{table.name}"],
                paper=digest([papers.load(table.paper, part) for part in ("published", "experiments", "errata")]),
                config=digest(CONFIG.model_dump(exclude=NOT_IN_TABLES)),
                code=fingerprint.of_stage("table"),
            log:
                f"{LOGS}/tables/{table.target}.log",
            conda:
                "../envs/data.yaml"
            localrule: True
            script:
                "../scripts/table.py"

    else:

        rule:
            name:
                table.target
            input:
                CATALOGUE.table_files(table),


for paper in CONFIG.papers:
    as_printed = [table for table in CATALOGUE.tables if table.paper == paper and not table.runs]
    if as_printed:

        # tables without runs (settings, formulas, quoted numbers, holes) share a job
        rule:
            name:
                f"{paper}_without_runs"
            output:
                [
                    path
                    for table in as_printed
                    for path in shown(CATALOGUE.table_files(table), f"{paper}/{table.name}")
                ],
            params:
                tables=[f"{paper}/{table.name}" for table in as_printed],
                paper=digest([papers.load(paper, part) for part in ("published", "experiments", "errata")]),
                config=digest(CONFIG.model_dump(exclude=NOT_IN_TABLES)),
                code=fingerprint.of_stage("table"),
            log:
                f"{LOGS}/tables/{paper}_without_runs.log",
            conda:
                "../envs/data.yaml"
            localrule: True
            script:
                "../scripts/table.py"


for paper in CONFIG.papers:

    rule:
        name:
            paper
        input:
            [file for file in TABLE_FILES + FIGURE_FILES + SIMULATION_FILES if file.parent.name == paper],


for figure in CATALOGUE.figures:

    rule:
        name:
            figure.target
        input:
            files(figure.runs, "record.json"),
            files([run for run in figure.runs if run.has_statistics], "statistics.json"),
            [file for result in figure.results for file in files(figure.runs, result)],
        output:
            shown(CATALOGUE.figure_files(figure), f"{figure.paper}/{figure.name}"),
        params:
            figure=f"{figure.paper}/{figure.name}",
            paper=digest([papers.load(figure.paper, part) for part in ("published", "experiments")]),
            config=digest(CONFIG.model_dump(exclude=NOT_IN_TABLES)),
            code=fingerprint.of_stage("figure"),
        log:
            f"{LOGS}/figures/{figure.target}.log",
        conda:
            "../envs/data.yaml"
        localrule: True
        script:
            "../scripts/figure.py"


for name, file in zip(CATALOGUE.grids, GRID_FILES):

    rule:
        name:
            f"grid_{digest(name)}"
        input:
            files(CATALOGUE.grids[name], "record.json"),
        output:
            file,
        params:
            grid=name,
            code=fingerprint.of_stage("table"),
        log:
            f"{LOGS}/grids/{digest(name)}.log",
        conda:
            "../envs/data.yaml"
        localrule: True
        script:
            "../scripts/grid.py"
