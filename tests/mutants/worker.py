"""Run tests on one mutant after another, each in a child that begins where all libraries are imported.

Reads a line of JSON for each, {"tree", "tests", "seconds"}, and answers with one: {"code", "seconds", "test"}; code is
pytest's, or null if the time was up.
"""

import importlib
import json
import os
import re
import signal
import sys
import tempfile
import time

LIBRARIES = (
    "torch torchvision transformers accelerate sklearn.svm sklearn.model_selection scipy.stats pandas "
    "matplotlib.pyplot pytest hypothesis pydantic yaml safetensors.torch numba tqdm torch.distributed"
)


def main() -> None:
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
    for name in LIBRARIES.split():
        importlib.import_module(name)
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), flush=True)


def answer(tree: str, tests: list[str], seconds: float) -> dict:
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            run(tree, tests, output.fileno())
        code = waited(child, started + seconds)
        output.seek(0)
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output.read(), re.M)
    return {"code": code, "seconds": round(time.monotonic() - started, 1), "test": failed[1] if failed else None}


def run(tree: str, tests: list[str], output: int) -> None:
    """The child: pytest on a tree's tests and code."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(tree)
    os.environ["PYTHONPATH"] = os.path.join(tree, "src")
    sys.path[:0] = [os.path.join(tree, "src"), tree]
    import pytest

    os._exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]))


def waited(child: int, until: float) -> int | None:
    """A child's exit code; at the time limit it is killed with all that it started."""
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


if __name__ == "__main__":
    main()
