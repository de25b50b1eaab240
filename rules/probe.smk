# Probes read stored embeddings: small CPU jobs.

for bundle in CATALOGUE.bundles():
    if bundle.modality == "image":
        if CATALOGUE.result_files(bundle):

            rule:
                name:
                    f"probe_{bundle.name}"
                input:
                    files(bundle.runs, VECTORS["image"]),
                    CATALOGUE.train_inputs(bundle),
                output:
                    CATALOGUE.result_files(bundle),
                params:
                    code=fingerprint.of_stage("probe_image"),
                    settings=digest([[run.feature_probes, CATALOGUE.kinds(run)] for run in bundle.runs]),
                log:
                    f"{LOGS}/probe/{bundle.name}.log",
                benchmark:
                    f"{BENCHMARKS}/probe/{bundle.name}.tsv"
                conda:
                    "../envs/torch.yaml"
                resources:
                    mem_mb=grown(8000),
                    runtime=grown(240),
                    gpu=JOBS.gpus if any(run.probes_need_images for run in bundle.runs) else 0,
                script:
                    "../scripts/probe_images.py"

        continue

    rule:
        name:
            f"sts_{bundle.name}"
        input:
            files(bundle.runs, "embeddings.npz"),
            CATALOGUE.tasks.record,
        output:
            files(bundle.runs, "sts.json"),
        params:
            code=fingerprint.of_stage("sts"),
        log:
            f"{LOGS}/sts/{bundle.name}.log",
        conda:
            "../envs/data.yaml"
        resources:
            mem_mb=grown(4000),
            runtime=grown(60),
        script:
            "../scripts/sts.py"

    rule:
        name:
            f"transfer_{bundle.name}"
        input:
            files(bundle.runs, "embeddings.npz"),
            CATALOGUE.tasks.record,
        output:
            files(bundle.runs, "transfer.json"),
        params:
            code=fingerprint.of_stage("transfer"),
            protocol=CONFIG.sentence.protocol,
        log:
            f"{LOGS}/transfer/{bundle.name}.log",
        benchmark:
            f"{BENCHMARKS}/transfer/{bundle.name}.tsv"
        conda:
            "../envs/data.yaml"
        threads: JOBS.threads
        resources:
            mem_mb=grown(8000),
            runtime=grown(240),
        script:
            "../scripts/transfer.py"
