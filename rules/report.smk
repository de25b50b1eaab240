# The ledger of all cells, the verdicts on the papers' claims, and the page that shows them with everything behind them.


rule report:
    input:
        TABLE_FILES,
        FIGURE_FILES,
        SIMULATION_FILES,
        CATALOGUE.theory_files,
    output:
        CATALOGUE.report_files,
    params:
        papers=digest([papers.load(paper, part) for paper in CONFIG.papers for part in papers.PARTS]),
        config=digest(CONFIG.model_dump(exclude={"mirror", "device", "jobs", "hardware"})),
        code=fingerprint.of_stage("report"),
    log:
        f"{LOGS}/report.log",
    benchmark:
        f"{BENCHMARKS}/report.tsv"
    conda:
        "../envs/data.yaml"
    localrule: True
    resources:
        mem_mb=grown(4000),
        runtime=grown(30),
    script:
        "../scripts/report.py"
