"""One of several processes that train together; `launching` starts them through torchrun, with a task to read."""

import sys
from pathlib import Path

from clrepro.config import parse
from clrepro.errors import Interrupted, UserError
from clrepro.modalities import run_from
from clrepro.paths import read_json, write_json
from clrepro.stages.training import train


def main() -> None:
    task = read_json(Path(sys.argv[1]))
    try:
        train([run_from(given) for given in task["runs"]], parse(task["config"]))
    except (UserError, Interrupted) as failure:
        interrupted = isinstance(failure, Interrupted)
        write_json(Path(task["outcome"]), {"interrupted": interrupted, "text": str(failure)})
        sys.exit(Interrupted.EXIT_CODE if interrupted else 1)


if __name__ == "__main__":
    main()
