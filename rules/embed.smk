# Every distinct test sentence, or every image, once per checkpoint; the vectors are temporary, the checkpoints are not.

for bundle in CATALOGUE.bundles():

    rule:
        name:
            f"embed_{bundle.name}"
        input:
            files(bundle.runs, "record.json"),
            CATALOGUE.train_inputs(bundle),
        output:
            temp(files(bundle.runs, VECTORS[bundle.modality])),
        params:
            code=fingerprint.of_stage(stage("embed", bundle)),
        log:
            f"{LOGS}/embed/{bundle.name}.log",
        benchmark:
            f"{BENCHMARKS}/embed/{bundle.name}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: JOBS.threads
        resources:
            mem_mb=grown(JOBS.memory_mb),
            runtime=grown(JOBS.runtime_minutes),
            gpu=JOBS.gpus,
        script:
            "../scripts/embed.py"
