"""Graph encoders: a training step and the SVM evaluation, ours against the released code's own way.

    python benchmarks/graphs.py [--set mutag] [--data FOLDER] [--rounds 5] [--threads 1] [--only training]

The released code's way (GraphCL's unsupervised_TU) is written here from a description in words. Training:
torch_geometric's `Data`, augmented one by one on access (nodes dropped, or a subgraph) through dense adjacency
matrices; its `DataLoader`; loops over a batch's nodes and edges, with a dictionary of new numbers, that remove nodes
without edges (looked up in a set, which may be quicker than the original); `GINConv`, batch norm, sum pooling. Encoder,
loss and optimiser are equal on both sides; a turn is an epoch, and the first of each is not counted. Evaluation:
scikit-learn's grid search of an SVM in ten folds, and once more in each for a hold-out of the training part, which
gives a score that is not reported; ours searches once. The embeddings, not scaled, are those of an encoder that ours
trained for as many epochs as the released code does.

Both sides take turns in one process. Printed: the median of the turns and the ratio of medians, with the smallest and
largest ratio of neighbouring turns. FOLDER holds the sets' archives, as MUTAG.zip; without it graphs are generated, as
many and as large as those of the set.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from torch import Tensor, nn

from clrepro.modalities.graph import svm, tu_files
from clrepro.modalities.graph.encoder import embed
from clrepro.modalities.graph.graph_sets import GraphSet
from clrepro.modalities.graph.training import GraphWorkload, as_seen
from clrepro.objectives import make as make_objective
from clrepro.sources.source import source
from clrepro.training import optimisers

SETS = ("mutag", "proteins", "nci1", "dd", "imdb-binary", "reddit-binary")
ENCODER = {"width": 32, "layers": 3}
EPOCHS, BATCH, LEARNING_RATE, TEMPERATURE = 20, 128, 0.01, 0.2
AUGMENTATION = dict(augmentation="random2", behaviour="released", drop_share=0.1, subgraph_share=0.2)
COSTS = [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0]
PROTOCOL = dict(folds=10, inner_folds=5, costs=COSTS, gamma="scale")


def generated(about: dict) -> GraphSet:
    """Random graphs, denser in higher classes, in the numbers that are known of a set; edges drawn twice count once."""
    rng, count, nodes = np.random.default_rng(0), about["graphs"], about["nodes"]
    sizes = 2 + rng.multinomial(nodes - 2 * count, rng.dirichlet(np.full(count, 4.0)))
    labels = rng.permutation(np.repeat(np.arange(len(about["classes"])), list(about["classes"].values())))
    weights, starts = sizes * (1.0 + labels), np.cumsum(sizes) - sizes
    graph = rng.choice(count, about["edges"] // 2, p=weights / weights.sum())
    pairs = np.stack([starts[graph] + (rng.random(len(graph)) * sizes[graph]).astype(int) for _ in range(2)])
    pairs = pairs[:, pairs[0] != pairs[1]]
    edges = np.unique(np.concatenate([pairs, pairs[::-1]], axis=1), axis=1)
    return GraphSet.made(sizes, rng.integers(0, about["width"], nodes), edges, labels, about["width"])


class Pairs(torch.utils.data.Dataset):
    """A graph with self loops, and its augmentation, which is drawn anew at every access."""

    def __init__(self, graphs: GraphSet):
        from torch_geometric.data import Data

        self.graphs = []
        for number in np.random.permutation(len(graphs)):  # their order is drawn once
            one = graphs.select(np.array([number]))
            self.graphs.append(Data(x=torch.eye(one.width)[one.kinds], edge_index=torch.from_numpy(one.edges)))

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, number: int):
        graph = self.graphs[number].clone()
        loops = torch.arange(int(graph.edge_index.max()) if graph.edge_index.numel() else 0)
        graph.edge_index = torch.cat([graph.edge_index, torch.stack([loops, loops])], dim=1)
        return graph, without(graph.clone(), drawn(graph))


def drawn(graph) -> list[int]:
    """The nodes to drop: a tenth, or all but a fifth at most, drawn from one node's neighbours."""
    count, edges = graph.num_nodes, graph.edge_index.numpy()
    if np.random.randint(2):
        return np.random.choice(count, count // 10, replace=False).tolist()
    taken = [np.random.randint(count)]
    neighbours = sorted({int(other) for other in edges[1][edges[0] == taken[0]]})
    for place in np.random.randint(len(neighbours), size=count) if neighbours else ():
        if neighbours[place] not in taken:
            taken.append(neighbours[place])
        if len(taken) > int(0.2 * count):
            break
    return [node for node in range(count) if node not in taken]


def without(graph, dropped: list[int]):
    """Without the edges of some nodes, through the dense adjacency matrix."""
    adjacency = torch.zeros(graph.num_nodes, graph.num_nodes)
    adjacency[graph.edge_index[0], graph.edge_index[1]] = 1
    adjacency[dropped, :] = 0
    adjacency[:, dropped] = 0
    graph.edge_index = adjacency.nonzero().T
    return graph


def connected(batch) -> tuple[Tensor, Tensor, Tensor]:
    """Features, edges and graphs of the nodes that an edge joins, with new numbers and without self loops."""
    pairs = batch.edge_index.T.tolist()
    joined = {node for pair in pairs for node in pair}
    kept = [node for node in range(batch.num_nodes) if node in joined]
    numbers = {node: number for number, node in enumerate(kept)}
    edges = [[numbers[one], numbers[other]] for one, other in pairs if one != other]
    return batch.x[kept], torch.tensor(edges).reshape(-1, 2).T, batch.batch[kept]


class Peer(nn.Module):
    """The encoder and its head, in torch_geometric's parts."""

    def __init__(self, inputs: int):
        from torch_geometric.nn import GINConv, global_add_pool

        super().__init__()
        self.pool, width, layers = global_add_pool, ENCODER["width"], ENCODER["layers"]
        self.layers = nn.ModuleList(GINConv(two_layers(width if k else inputs, width)) for k in range(layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(layers))
        self.head = two_layers(width * layers, width * layers)

    def forward(self, x: Tensor, edges: Tensor, graph: Tensor, count: int) -> Tensor:
        found = []
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(torch.relu(layer(x, edges)))
            found.append(self.pool(x, graph, count))
        return self.head(torch.cat(found, dim=1))


def two_layers(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))


def peer_loss(view1: Tensor, view2: Tensor) -> Tensor:
    """The mean over i of -log(exp(s_ii / T) / sum of exp(s_ij / T) over j other than i), s the cosines."""
    cosines = view1 @ view2.T / torch.outer(view1.norm(dim=1), view2.norm(dim=1))
    similar = torch.exp(cosines / TEMPERATURE)
    return -torch.log(similar.diagonal() / (similar.sum(dim=1) - similar.diagonal())).mean()


def theirs(graphs: GraphSet) -> Iterator[int]:
    """Each `next` is an epoch, and gives its number of steps."""
    from torch_geometric.loader import DataLoader

    loader = DataLoader(Pairs(graphs), BATCH)
    model = Peer(graphs.width).train()
    optimiser = torch.optim.Adam(model.parameters(), LEARNING_RATE)
    while True:
        for plain, augmented in loader:
            optimiser.zero_grad()
            views = (plain.x, plain.edge_index, plain.batch), connected(augmented)
            peer_loss(*(model(*view, plain.num_graphs) for view in views)).backward()
            optimiser.step()
        yield len(loader)


def workload(graphs: GraphSet) -> GraphWorkload:
    settings = dict(epochs=EPOCHS, batch_size=BATCH, order="once", **AUGMENTATION)
    return GraphWorkload(as_seen(graphs, "released"), ENCODER, settings, 0)


def ours(work: GraphWorkload) -> Iterator[int]:
    """Each `next` is an epoch of the code that clrepro trains with, and gives its number of steps."""
    device, model, step = torch.device("cpu"), work.model.train(), 0
    objective = make_objective("dcl", "released", temperature=TEMPERATURE, negatives="cross")
    optimiser = optimisers.make("adam", model.parameters(), LEARNING_RATE)
    while True:
        for _ in range(work.steps_per_epoch):
            [(view1, view2, extras)] = work.terms(model, step, device)
            objective(view1, view2, **extras).backward()
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            step += 1
        yield work.steps_per_epoch


def searched_twice(vectors: np.ndarray, labels: np.ndarray) -> list[float]:
    """The accuracies of ten folds, after a search for the accuracy on a hold-out of each training part."""
    rng, found = np.random.default_rng(0), []
    for train, test in StratifiedKFold(PROTOCOL["folds"], shuffle=True, random_state=0).split(vectors, labels):
        mixed = rng.permutation(train)
        for rows, held in ((mixed[len(test) :], mixed[: len(test)]), (train, test)):
            search = GridSearchCV(SVC(), {"C": COSTS}, cv=PROTOCOL["inner_folds"], scoring="accuracy")
            score = search.fit(vectors[rows], labels[rows]).score(vectors[held], labels[held])
        found.append(score)
    return found


def evaluations(accuracies: Callable[[], Iterable[float]], found: list[list[float]]) -> Iterator[int]:
    """Each `next` is an evaluation, whose accuracies are added to `found`."""
    while True:
        found.append(list(accuracies()))
        yield 1


def compare(unit: str, scale: float, rounds: int, *contestants: Iterator[int]) -> None:
    """Let both take turns; print the medians of a unit's time and their ratio."""
    found: list[list[float]] = [[], []]
    for _ in range(rounds):
        for times, contestant in zip(found, contestants, strict=True):
            start = time.perf_counter()
            count = next(contestant)
            times.append(scale * (time.perf_counter() - start) / count)
    ratios = [one / other for one, other in zip(*found, strict=True)]
    peer, own = map(statistics.median, found)
    line = f"{unit:<18} released way {peer:>9.2f}   ours {own:>8.2f}   {peer / own:>6.1f} x"
    print(f"{line}   ({min(ratios):.1f} to {max(ratios):.1f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the sets' archives; generated graphs without it")
    parser.add_argument("--set", choices=SETS, default="mutag")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=("training", "evaluation"))
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    np.random.seed(0)
    about = source(args.set).graphs
    graphs = tu_files.read(args.data / f"{about['prefix']}.zip", about) if args.data else generated(about)
    made = "" if args.data else ", generated"
    print(f"{args.set}{made}: {len(graphs):,} graphs, {len(graphs.kinds):,} nodes; {platform.machine()}")
    if args.only != "evaluation":
        running = theirs(graphs), ours(workload(graphs))
        _ = [next(contestant) for contestant in running]
        compare("training, ms/step", 1000, args.rounds, *running)
    if args.only != "training":
        work = workload(graphs)
        for _ in zip(range(EPOCHS), ours(work), strict=False):
            pass
        vectors, found = embed(work.model.encoder, work.graphs, torch.device("cpu")), []
        sides = searched_twice, partial(svm.accuracies, settings=PROTOCOL, seed=0)
        sides = (evaluations(partial(side, vectors, graphs.labels), found) for side in sides)
        compare("evaluation, s", 1, args.rounds, *sides)
        same = "the same" if all(scores == found[0] for scores in found) else "NOT the same"
        print(f"accuracy {100 * np.mean(found[-1]):.2f} %; {same} in every fold on both sides")


if __name__ == "__main__":
    main()
