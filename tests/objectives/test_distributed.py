"""Two and four processes together take the step that one process takes with all rows."""

import socket

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from clrepro import objectives
from clrepro.objectives._anchors import orthonormal_anchors
from clrepro.objectives.memory import KeyQueue
from tests.objectives.cases import CASES, random_views

ROWS, WIDTH = 13, 5  # a prime number of rows: no number of processes divides it


def encoder():
    torch.manual_seed(0)
    return torch.nn.Linear(WIDTH, WIDTH, dtype=torch.float64)


def step(case, rows: slice) -> tuple[float, torch.Tensor]:
    """The loss, and the gradient of an encoder's weights, from some of the rows."""
    name, variant, params = case
    view1, view2 = (torch.tensor(view)[rows] for view in random_views(7, n=ROWS, d=WIDTH))
    state = {}
    if name == "oar":
        labels = torch.arange(ROWS)[rows] % 4 - 1
        state = {"labels": labels, "anchors": orthonormal_anchors(3, WIDTH)}
    elif params.get("reweight") is False:  # MACL with a queue, which is not gathered
        state = {"queue": torch.tensor(random_views(8, n=9, d=WIDTH)[0])}
    model = encoder()
    loss = objectives.make(name, variant, **params)(model(view1), model(view2), **state)
    loss.backward()
    return loss.item(), torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def worker(rank: int, world: int, port: int, results) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    cuts = [ROWS * part // world for part in range(world + 1)]
    own = slice(cuts[rank], cuts[rank + 1])
    found = []
    for case in CASES:
        loss, gradient = step(case, own)
        dist.all_reduce(gradient)  # what data-parallel training does: the mean over the processes
        found.append((loss, gradient / world))
    queue = KeyQueue(8, WIDTH)
    queue.push(torch.tensor(random_views(7, n=ROWS, d=WIDTH)[0])[own])
    results[rank] = (found, queue.keys)
    dist.destroy_process_group()


@pytest.mark.parametrize("world", [2, 4])
def test_the_gradient_is_that_of_one_process_for_every_objective(world):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    results = mp.get_context("spawn").Manager().dict()
    mp.spawn(worker, args=(world, port, results), nprocs=world)
    assert len(results) == world
    queue = KeyQueue(8, WIDTH)
    queue.push(torch.tensor(random_views(7, n=ROWS, d=WIDTH)[0]))
    for found, keys in results.values():
        torch.testing.assert_close(keys, queue.keys)
        for case, (loss, gradient) in zip(CASES, found, strict=True):
            expected_loss, expected = step(case, slice(None))
            assert loss == pytest.approx(expected_loss, rel=1e-9, abs=1e-12), case
            torch.testing.assert_close(
                gradient, expected, rtol=1e-8, atol=1e-12, msg=lambda text, c=case: f"{c}: {text}"
            )
