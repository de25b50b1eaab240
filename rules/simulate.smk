# Figures that need no trained encoder, each named paper_figure, and the papers' theory as checks.

for simulation in CATALOGUE.simulations:

    rule:
        name:
            simulation.target
        output:
            simulation.files,
        params:
            study=simulation.study,
            settings=simulation.settings,
            code=fingerprint.of_study(simulation.study, *simulation.objectives),
        log:
            f"{LOGS}/simulate/{simulation.target}.log",
        benchmark:
            f"{BENCHMARKS}/simulate/{simulation.target}.tsv"
        conda:
            "../envs/torch.yaml" if simulation.study in WITH_TORCH else "../envs/data.yaml"
        # a thinned figure is quicker than its imports
        threads: 1 if simulation.settings["footnote"] else 2
        resources:
            mem_mb=grown(4000),
            runtime=grown(60),
        script:
            "../scripts/simulate.py"


rule theory:
    output:
        CATALOGUE.theory_files,
    params:
        studies=papers.theory(CONFIG.papers),
        code=fingerprint.of_theory(papers.theory(CONFIG.papers), *NAMES),
    log:
        f"{LOGS}/theory.log",
    conda:
        "../envs/torch.yaml"
    resources:
        mem_mb=grown(4000),
        runtime=grown(30),
    script:
        "../scripts/theory.py"
