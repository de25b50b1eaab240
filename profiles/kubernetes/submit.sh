#!/bin/sh
# submit.sh IMAGE CPUS MEGABYTES GPUS MINUTES SCRIPT: start a job of Snakemake's as a Job of Kubernetes, print its name.
# Requests are limits as well: GPUs are granted only so, and a job over its memory is killed alone. When the time is up
# or a node is drained, Kubernetes sends SIGTERM to the first process of the pod and waits two minutes: all processes get
# SIGURG then, which trainings take as a wish to save and end, and everything else ignores.
set -eu
image=$1 cpus=$2 megabytes=$3 gpus=$4 minutes=$5 script=$6
limits="{cpu: \"$cpus\", memory: ${megabytes}M$([ "$gpus" = 0 ] || echo ", nvidia.com/gpu: $gpus")}"
kubectl create --output=jsonpath='{.metadata.name}' --filename=- <<MANIFEST
apiVersion: batch/v1
kind: Job
metadata:
  generateName: clrepro-
  labels: {app: clrepro}
spec:
  backoffLimit: 0 # Snakemake repeats, with more memory
  activeDeadlineSeconds: $((minutes * 60))
  ttlSecondsAfterFinished: 86400
  template:
    metadata:
      labels: {app: clrepro}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 120
      containers:
        - name: job
          image: $image
          workingDir: /work
          command: [sh, -c]
          args:
            - |
              trap 'kill -URG -1' TERM
              sh '$script' & code=129
              while [ "\$code" -gt 128 ] && kill -0 \$! 2>/dev/null; do wait \$! && code=0 || code=\$?; done
              exit "\$code"
          resources: {requests: $limits, limits: $limits}
          volumeMounts:
            - {name: work, mountPath: /work}
            - {name: shared-memory, mountPath: /dev/shm}
      volumes:
        - name: work
          persistentVolumeClaim: {claimName: clrepro}
        - name: shared-memory # the usual 64 MB are too little for processes that train together
          emptyDir: {medium: Memory}
MANIFEST
