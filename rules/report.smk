# The ledger of all cells, the verdicts on the papers' claims, and the page that shows them with everything behind them.


rule report:
    input:
        tables_of(CONFIG.papers),
        [file for figure in CATALOGUE.figures for file in FILES.of_figure(figure)],
        [file for simulation in CATALOGUE.simulations for file in simulation.files],
        FILES.theory,
    output:
        FILES.report,
    params:
        papers=[paper_parts(paper, *papers.PARTS) for paper in CONFIG.papers],
        config=settings_but(),
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
