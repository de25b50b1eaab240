# Probes read stored embeddings: small CPU jobs without torch.

for bundle in CATALOGUE.bundles():

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
            mem_mb=4000,
            runtime=60,
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
            mem_mb=8000,
            runtime=240,
        script:
            "../scripts/transfer.py"
