# Targets by name, without a job of their own: nie2023_table_1, li2024_figure_3, nie2023.

for table in CATALOGUE.tables:

    rule:
        name:
            table.target
        input:
            FILES.of_table(table) if table.runs else FILES.manifest("printed", table.paper),


for figure in CATALOGUE.figures:

    rule:
        name:
            figure.target
        input:
            FILES.of_figure(figure),


for simulation in CATALOGUE.simulations:

    rule:
        name:
            simulation.target
        input:
            simulation.files,


for paper in CONFIG.papers:

    rule:
        name:
            paper
        input:
            tables_of([paper]),
            [file for figure in CATALOGUE.figures if figure.paper == paper for file in FILES.of_figure(figure)],
            [file for part in CATALOGUE.simulations if part.paper == paper for file in part.files],


rule sweeps:
    input:
        [FILES.grid(name) for name in CATALOGUE.sweeps],


# a misspelt name, which Snakemake takes for a file that no rule makes
# (in a module, other names may be rules of the workflow that uses it, which Snakemake has not read yet)
if workflow.is_main_process and workflow.modifier.is_main_snakefile():
    try:
        unknown_names = [name for name in TARGETS if not workflow.is_rule(name)]
        targets.check(unknown_names, [*CATALOGUE.target_names, "all", "report", "theory", "sweeps"])
    except UserError as failure:
        raise WorkflowError(str(failure)) from None
