# One job trains a bundle of runs: several at demo scale, one at paper scale.

for bundle in CATALOGUE.bundles():

    rule:
        name:
            f"train_{bundle.name}"
        input:
            CATALOGUE.train_inputs(bundle),
        output:
            records=files(bundle.runs, "record.json"),
            # an untrained encoder has no steps to probe, but may have held-out sentences to measure
            probes=files(bundle.probed, "statistics.json"),
        params:
            code=sorted({CATALOGUE.training_code(run) for run in bundle.runs}),
        log:
            f"{LOGS}/train/{bundle.name}.log",
        benchmark:
            f"{BENCHMARKS}/train/{bundle.name}.tsv"
        conda:
            "../envs/torch.yaml"
        threads: JOBS.threads * JOBS.processes
        resources:
            mem_mb=grown(JOBS.memory_mb * JOBS.processes),
            runtime=grown(JOBS.runtime_minutes),
            gpu=JOBS.gpus * JOBS.processes,
        script:
            "../scripts/train.py"
