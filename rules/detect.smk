# Trained encoders, fine-tuned as detectors: long GPU jobs of their own, beside the probes of stored features.

for bundle in CATALOGUE.bundles():
    if detection.runs(CATALOGUE, bundle):

        rule:
            name:
                f"detect_{bundle.name}"
            input:
                files(detection.runs(CATALOGUE, bundle), "record.json"),
                CATALOGUE.detection.records,
            output:
                files(detection.runs(CATALOGUE, bundle), detection.FILE),
            params:
                code=fingerprint.of_stage("detect"),
                settings=digest([run.evaluation["detection"] for run in detection.runs(CATALOGUE, bundle)]),
            log:
                f"{LOGS}/detect/{bundle.name}.log",
            benchmark:
                f"{BENCHMARKS}/detect/{bundle.name}.tsv"
            conda:
                "../envs/torch.yaml"
            threads: JOBS.threads
            resources:
                mem_mb=grown(JOBS.memory_mb),
                runtime=grown(CONFIG.image.detection.runtime_minutes),
                gpu=JOBS.gpus,
            script:
                "../scripts/detect.py"
