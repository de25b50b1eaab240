#!/bin/sh
# What Snakemake asks of a job's id: running, success or failed. Here of PBS Pro, whose -x knows finished jobs as well.
qstat -x -f "$1" | awk -F' = ' '
  $1 ~ /job_state$/ { state = $2 }
  $1 ~ /Exit_status$/ { code = $2 }
  END { print state !~ /^[FCX]$/ ? "running" : code == "0" ? "success" : "failed" }'
