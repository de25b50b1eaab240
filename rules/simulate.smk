# Figures that need no trained encoder, and the papers' theory as checks.
SIMULATIONS = {f"{simulation.paper}/{simulation.name}": simulation for simulation in CATALOGUE.simulations}


rule simulate:
    output:
        shown(f"{ROOT}/figures/{{part}}.svg"),
        f"{ROOT}/figures/{{part}}.png",
        f"{ROOT}/figures/{{part}}.csv",
    wildcard_constraints:
        part=one_of(SIMULATIONS),
    params:
        study=lambda wildcards: SIMULATIONS[wildcards.part].study,
        settings=lambda wildcards: SIMULATIONS[wildcards.part].settings,
        code=lambda wildcards: SIMULATIONS[wildcards.part].code,
    log:
        f"{LOGS}/simulate/{{part}}.log",
    benchmark:
        f"{BENCHMARKS}/simulate/{{part}}.tsv"
    conda:
        "../envs/torch.yaml"
    # a thinned figure is quicker than its imports
    threads: lambda wildcards: 1 if SIMULATIONS[wildcards.part].settings["footnote"] else 2
    resources:
        mem_mb=grown(4000),
        runtime=grown(60),
    script:
        "../scripts/simulate.py"


rule theory:
    output:
        FILES.theory,
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
