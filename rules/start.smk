# what a killed run left behind: its lock, at once; its jobs, before the first of ours starts
if workflow.is_main_process and not workflow.output_settings.dryrun:
    RUN = launch.begin()

onstart:
    launch.end_orphans(RUN)
    launch.calm(workflow)
