# One job trains a bundle of runs: several at demo scale, one at paper scale. Its output lists the runs' records.


rule train:
    input:
        lambda wildcards: JOBS.training_inputs(wildcards.bundle),
    output:
        FILES.manifest("train", "{bundle}"),
    params:
        runs=lambda wildcards: JOBS.run_given(wildcards.bundle),
        code=lambda wildcards: JOBS.training_code(wildcards.bundle),
        missing=lambda wildcards: lost(FILES.manifest("train", wildcards.bundle)),
    log:
        f"{LOGS}/train/{{bundle}}.log",
    benchmark:
        f"{BENCHMARKS}/train/{{bundle}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: cores(WORK.threads * WORK.processes)
    priority: 2 * bool(GPUS)
    resources:
        mem_mb=grown(WORK.memory_mb * WORK.processes),
        runtime=grown(WORK.runtime_minutes),
        gpu=WORK.gpus * WORK.processes,
    script:
        "../scripts/train.py"


# Every distinct test sentence, or every image, once per checkpoint; features are temporary, checkpoints are not.
rule embed:
    input:
        FILES.manifest("train", "{bundle}"),
        lambda wildcards: JOBS.training_inputs(wildcards.bundle),
    output:
        temp(directory(f"{ROOT}/features/{{bundle}}")),
    params:
        runs=lambda wildcards: JOBS.embedded_given(wildcards.bundle),
        code=lambda wildcards: JOBS.embedding_code(wildcards.bundle),
    log:
        f"{LOGS}/embed/{{bundle}}.log",
    benchmark:
        f"{BENCHMARKS}/embed/{{bundle}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: cores(WORK.threads)
    priority: bool(GPUS)
    resources:
        mem_mb=grown(WORK.memory_mb),
        runtime=grown(WORK.runtime_minutes),
        gpu=WORK.gpus,
    script:
        "../scripts/embed.py"
