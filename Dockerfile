# The environment of requirements.lock and this checkout in one image, for Kubernetes and other container platforms:
#   docker build --tag registry.example.org/clrepro:0.1.0 .
# PyTorch brings its own CUDA libraries: nodes need NVIDIA's driver and container toolkit, no CUDA.
FROM python:3.11-slim-bookworm

# git: the commit stands in every record; make: the same two commands as everywhere; kubernetes-client: profiles/kubernetes
# starts pods with its kubectl
RUN apt-get update \
  && apt-get install --yes --no-install-recommends git kubernetes-client make procps \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/clrepro
# the environment before the code, so that a changed line does not install 6 GB again
COPY requirements.lock ./
RUN python -m pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY . .
RUN python -m pip install --no-cache-dir --no-deps --no-build-isolation --editable .

# users without a name in the image (Kubernetes' security contexts) need a home that they may write to
ENV HOME=/tmp PYTHONUNBUFFERED=1
# results, state and data are relative to the working directory: mount a volume there
WORKDIR /work
CMD ["snakemake", "--snakefile", "/opt/clrepro/Snakefile", "--cores", "all", "--configfile", "/opt/clrepro/config.yaml"]
