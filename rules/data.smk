# Fetch sources (the only jobs that may need the network), then make backbones and tokenised corpora from them.

for source in CATALOGUE.sources():

    rule:
        name:
            f"fetch_{source.name.replace('-', '_')}"
        output:
            source.record,
        params:
            source=source.identity,
            sha256=source.sha256,
            code=fingerprint.of_stage("generate" if source.kind == "generated" else "fetch"),
        log:
            f"{LOGS}/fetch/{source.name}.log",
        conda:
            "../envs/data.yaml"
        localrule: True  # where Snakemake runs there is a network
        resources:
            mem_mb=grown(2000),
            runtime=grown(240),
        script:
            "../scripts/fetch.py"


for build in CATALOGUE.backbones():

    rule:
        name:
            f"prepare_{build.folder.name.replace('-', '_')}"
        input:
            [source.record for source in CATALOGUE.prepared_from(build)],
        output:
            build.records,
        params:
            weights=getattr(build, "local_weights", None),
            code=fingerprint.of_stage(stage("prepare", build)),
        log:
            f"{LOGS}/prepare/{build.folder.name}.log",
        conda:
            "../envs/torch.yaml"
        threads: JOBS.threads
        resources:
            mem_mb=grown(JOBS.memory_mb),
            runtime=grown(JOBS.runtime_minutes),
        script:
            "../scripts/prepare.py"
