# Every distinct test sentence once per checkpoint; the vectors are temporary, the checkpoints are not.

for bundle in CATALOGUE.bundles():

    rule:
        name:
            f"embed_{bundle.name}"
        input:
            files(bundle.runs, "record.json"),
            CATALOGUE.tasks.record,
        output:
            temp(files(bundle.runs, "embeddings.npz")),
        params:
            code=fingerprint.of_stage("embed"),
        log:
            f"{LOGS}/embed/{bundle.name}.log",
        benchmark:
            f"{BENCHMARKS}/embed/{bundle.name}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: JOBS.threads
        resources:
            mem_mb=JOBS.memory_mb,
            runtime=JOBS.runtime_minutes,
            gpu=JOBS.gpus,
        script:
            "../scripts/embed.py"
