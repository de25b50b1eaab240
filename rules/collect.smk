# Tables and figures from records; one rule each, named paper_table or paper_figure, and one target a paper.

NOT_IN_TABLES = {"mirror", "device", "jobs", "hardware", "simulation", "papers", "tables", "figures", "grids"}

for table in CATALOGUE.tables:

    rule:
        name:
            table.target
        input:
            files(table.runs, "record.json"),
            files(table.runs, "sts.json"),
            files(table.runs, "transfer.json"),
        output:
            [CATALOGUE.table_folder(table) / f"{table.name}.{suffix}" for suffix in ("csv", "md", "html")],
        params:
            table=f"{table.paper}/{table.name}",
            paper=digest([papers.load(table.paper, part) for part in ("published", "experiments")]),
            config=digest(CONFIG.model_dump(exclude=NOT_IN_TABLES)),
            code=fingerprint.of_stage("table"),
        log:
            f"{LOGS}/tables/{table.target}.log",
        conda:
            "../envs/data.yaml"
        script:
            "../scripts/table.py"


for paper in CONFIG.papers:

    rule:
        name:
            paper
        input:
            [file for file in TABLE_FILES + FIGURE_FILES + SIMULATION_FILES if file.parent.name == paper],


for figure, file in zip(CATALOGUE.figures, FIGURE_FILES):

    rule:
        name:
            figure.target
        input:
            files(figure.runs, "record.json"),
            files([run for run in figure.runs if run.has_probes], "probes.json"),
            [file for test in figure.tests for file in files(figure.runs, test)],
        output:
            file,
        params:
            figure=f"{figure.paper}/{figure.name}",
            paper=digest(papers.load(figure.paper, "experiments")["figures"][figure.name]),
            accept_stale=CONFIG.accept_stale,
            code=fingerprint.of_stage("figure"),
        log:
            f"{LOGS}/figures/{figure.target}.log",
        conda:
            "../envs/data.yaml"
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
        script:
            "../scripts/grid.py"
