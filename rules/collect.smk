# Tables from records; one rule a table, named paper_table, and one target a paper.

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
            config=digest(CONFIG.model_dump(exclude={"mirror", "device", "jobs", "hardware", "papers", "tables"})),
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
            [file for file in TABLE_FILES if file.parent.name == paper],


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
