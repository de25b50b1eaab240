#!/bin/sh
# What Snakemake asks of a job's name: running, success or failed.
state=$(kubectl get job "$1" --output=jsonpath='{.status.conditions[?(@.status=="True")].type}') || state=unknown
case " $state " in
  *" Complete "*) echo success ;;
  *" Failed "*) echo failed ;;
  " unknown ") kubectl get --raw=/readyz >/dev/null 2>&1 && echo failed || echo running ;; # deleted, or nobody answers
  *) echo running ;;
esac
