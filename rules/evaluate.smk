# Evaluations, as the modalities list them. {job} is the name that evaluations share which one job makes.
FEATURES = [one.job for one in JOBS.evaluations.values() if one.reads == "features"]
CHECKPOINTS = [one.job for one in JOBS.evaluations.values() if one.reads == "checkpoint"]


# of stored features: small jobs, mostly without a GPU; a probe that augments images asks for what a training does
rule evaluate:
    input:
        features=f"{ROOT}/features/{{bundle}}",
        data=lambda wildcards: JOBS.training_inputs(wildcards.bundle),
    output:
        FILES.manifest("{job}", "{bundle}"),
    wildcard_constraints:
        job=one_of(FEATURES),
    params:
        runs=lambda wildcards: JOBS.evaluation_given(wildcards.bundle, wildcards.job),
        code=lambda wildcards: JOBS.evaluation_code(wildcards.bundle, wildcards.job),
        missing=lambda wildcards: lost(FILES.manifest(wildcards.job, wildcards.bundle)),
    log:
        f"{LOGS}/evaluate/{{job}}/{{bundle}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate/{{job}}/{{bundle}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: lambda wildcards: evaluation_cores(wildcards.bundle, wildcards.job)
    resources:
        mem_mb=grown(lambda wildcards: JOBS.evaluation_resources(wildcards.bundle, wildcards.job).memory_mb),
        runtime=grown(lambda wildcards: JOBS.evaluation_resources(wildcards.bundle, wildcards.job).minutes),
        gpu=lambda wildcards: WORK.gpus * JOBS.evaluation_uses_gpu(wildcards.bundle, wildcards.job),
    script:
        "../scripts/evaluate.py"


# of the checkpoints themselves: encoders are fine-tuned, in long jobs that resume
rule evaluate_checkpoint:
    input:
        lambda wildcards: JOBS.checkpoint_inputs(wildcards.job, wildcards.bundle),
    output:
        FILES.manifest("{job}", "{bundle}"),
    wildcard_constraints:
        job=one_of(CHECKPOINTS),
    params:
        runs=lambda wildcards: JOBS.evaluation_given(wildcards.bundle, wildcards.job),
        code=lambda wildcards: JOBS.evaluation_code(wildcards.bundle, wildcards.job),
        missing=lambda wildcards: lost(FILES.manifest(wildcards.job, wildcards.bundle)),
    log:
        f"{LOGS}/evaluate_checkpoint/{{job}}/{{bundle}}.log",
    benchmark:
        f"{BENCHMARKS}/evaluate_checkpoint/{{job}}/{{bundle}}.tsv"
    conda:
        "../envs/torch.yaml"
    threads: cores(WORK.threads)
    priority: bool(GPUS)
    resources:
        mem_mb=grown(WORK.memory_mb),
        runtime=grown(lambda wildcards: JOBS.checkpoint_minutes(wildcards.job)),
        gpu=WORK.gpus,
    script:
        "../scripts/evaluate_checkpoint.py"
