# Fetch sources (the only jobs that may need the network), then make encoders and data ready from them.
SOURCES = {source.name: source for source in CATALOGUE.sources()}
FOLDERS = {str(source.folder): source for source in SOURCES.values()}


rule fetch:
    output:
        "data/sources/{name}/record.json",
    params:
        source=lambda wildcards: FOLDERS[f"data/sources/{wildcards.name}"].identity,
        sha256=lambda wildcards: FOLDERS[f"data/sources/{wildcards.name}"].sha256,
        code=fingerprint.of_stage("fetch"),
    log:
        f"{LOGS}/fetch/{{name}}.log",
    conda:
        "../envs/data.yaml"
    localrule: True  # where Snakemake runs there is a network
    resources:
        mem_mb=grown(2000),
        runtime=grown(240),
    script:
        "../scripts/fetch.py"


rule generate:
    output:
        "data/generated/{name}/record.json",
    params:
        source=lambda wildcards: FOLDERS[f"data/generated/{wildcards.name}"].identity,
        code=fingerprint.of_stage("generate"),
    log:
        f"{LOGS}/generate/{{name}}.log",
    conda:
        "../envs/data.yaml"
    localrule: True
    resources:
        mem_mb=grown(2000),
        runtime=grown(60),
    script:
        "../scripts/fetch.py"


rule prepare:
    input:
        lambda wildcards: [source.record for source in JOBS.builds[wildcards.name].sources],
    output:
        f"data/prepared/{CONFIG.scale}/{{name}}/manifest.json",
    params:
        build=lambda wildcards: JOBS.builds[wildcards.name].to_prepare,
        outside=lambda wildcards: JOBS.builds[wildcards.name].outside,
        missing=lambda wildcards: lost(JOBS.builds[wildcards.name].manifest),
        code=lambda wildcards: fingerprint.of_modules(JOBS.builds[wildcards.name].code),
    log:
        f"{LOGS}/prepare/{{name}}.log",
    conda:
        "../envs/torch.yaml"
    threads: WORK.threads
    resources:
        mem_mb=grown(WORK.memory_mb),
        runtime=grown(WORK.runtime_minutes),
    script:
        "../scripts/prepare.py"
