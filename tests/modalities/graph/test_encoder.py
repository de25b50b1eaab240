"""The graph encoder, against values of the released code and an oracle in loops."""

import numpy as np
import pytest
import torch

from clrepro import objectives
from clrepro.modalities.graph.augment import View, plain
from clrepro.modalities.graph.encoder import GIN, Batch, Projected, embed, load
from clrepro.modalities.graph.weights import save
from tests.modalities.graph.drawn import as_set
from tests.oracles import golden_graphs as golden
from tests.oracles import graphs as oracle

CPU = torch.device("cpu")
VIEWS = [as_set(view) for view in oracle.toy_views()]
OBJECTIVES = {
    "graphcl": lambda about: objectives.make("dcl", "released", temperature=about["temperature"], negatives="cross"),
    "macl": lambda about: objectives.make(
        "macl", base_temperature=about["base"], alpha=about["alpha"], alignment_threshold=about["threshold"],
        reweight=about.get("reweight", True), negatives="cross",
    ),
}  # fmt: skip


def by_formula() -> Projected:
    """The toy encoder and head of the golden values, in float64."""
    model = Projected(GIN(3, 4, 3), 12).double()
    linears = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    assert len(linears) == 8
    with torch.no_grad():
        for number, linear in enumerate(linears):
            linear.weight.copy_(torch.tensor(oracle.weights(number, *linear.weight.shape)))
            linear.bias.copy_(torch.tensor(oracle.biases(number, len(linear.bias))))
    return model


def batch(graphs) -> Batch:
    return Batch.of(plain(graphs), CPU)


def test_embeddings_are_those_of_the_released_code():
    encoder = by_formula().encoder.eval()
    assert encoder(batch(VIEWS[0])).detach().numpy() == pytest.approx(np.array(golden.GRAPH_EMBEDDINGS), abs=1e-6)


def test_projections_and_running_statistics_are_those_of_the_released_code():
    model = by_formula().train()
    first, second = (model(batch(view)) for view in VIEWS)
    assert first[0].tolist() == pytest.approx(golden.FIRST_PROJECTION, abs=1e-6)
    norm = model.encoder.layers[0].norm
    assert norm.running_mean.tolist() == pytest.approx(golden.RUNNING_MEAN, abs=1e-6)
    assert norm.running_var.tolist() == pytest.approx(golden.RUNNING_VARIANCE, abs=1e-6)
    cosines = torch.nn.functional.normalize(first) @ torch.nn.functional.normalize(second).T
    assert cosines.detach().numpy() == pytest.approx(np.array(golden.COSINES), abs=1e-6)


@pytest.mark.parametrize(("name", "about", "value", "convolutions", "head"), golden.GRAPH_LOSSES)
def test_losses_and_gradients_are_those_of_the_released_code(name, about, value, convolutions, head):
    model = by_formula().train()
    loss = OBJECTIVES[name](about)(*(model(batch(view)) for view in VIEWS))
    loss.backward()
    assert loss.item() == pytest.approx(value, abs=1e-6)
    for part, expected in ((model.encoder, convolutions), (model.head, head)):
        linears = [module for module in part.modules() if isinstance(module, torch.nn.Linear)]
        squares = sum(float(tensor.grad.square().sum()) for linear in linears for tensor in linear.parameters())
        assert squares**0.5 == pytest.approx(expected, rel=1e-6)


def test_masked_rows_and_edges_in_one_direction_give_what_the_oracle_gives():
    generator = np.random.default_rng(0)
    graphs = []
    for count in (5, 1, 7):
        edges = tuple((int(a), int(b)) for a, b in generator.integers(count, size=(2 * count, 2)))
        graphs.append(oracle.Graph(count, edges, np.eye(3)[generator.integers(3, size=count)]))
    made = as_set(graphs)
    masked, features = np.array([1, 8]), generator.normal(size=(2, 3))
    graphs[0].features[1], graphs[2].features[2] = features
    model = by_formula()
    found = model.encoder(Batch.of(View(made, masked, features), CPU))
    other = oracle.formula_encoder()
    expected = oracle.encode(other, graphs, training=True)
    assert found.detach().numpy() == pytest.approx(expected.detach().numpy(), abs=1e-9)
    probe = torch.sin(torch.arange(found.numel(), dtype=torch.float64)).reshape(found.shape)
    (found * probe).sum().backward()
    (expected * probe).sum().backward()
    linears = [module for module in model.encoder.modules() if isinstance(module, torch.nn.Linear)]
    gradients = [parameter.grad for linear in linears for parameter in (linear.weight, linear.bias)]
    for ours, theirs in zip(gradients, other.convolution_parameters(), strict=True):
        assert ours.numpy() == pytest.approx(theirs.grad.numpy(), abs=1e-8)


def test_an_encoder_comes_back_from_its_folder(tmp_path):
    torch.manual_seed(0)
    encoder = GIN(3, 4, 2)
    encoder(batch(VIEWS[0]))  # running statistics
    save(encoder, tmp_path)
    expected = embed(encoder, VIEWS[0], CPU)
    assert embed(load(tmp_path), VIEWS[0], CPU, batch_size=3) == pytest.approx(expected, abs=1e-6)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_layers_are_those_of_pytorch_geometric():
    from torch_geometric.nn import GINConv, global_add_pool

    torch.manual_seed(0)
    encoder = GIN(3, 8, 2)
    graphs = VIEWS[0]
    x, graph = torch.eye(3)[torch.from_numpy(graphs.kinds)], torch.from_numpy(graphs.graph)
    edges, pooled = torch.from_numpy(graphs.edges), []
    for layer in encoder.layers:
        mlp = torch.nn.Sequential(layer.first, torch.nn.ReLU(), layer.second)
        x = torch.nn.functional.batch_norm(GINConv(mlp)(x, edges).relu(), None, None, training=True)
        pooled.append(global_add_pool(x, graph))
    assert encoder(batch(graphs)).detach().numpy() == pytest.approx(torch.cat(pooled, dim=1).detach().numpy(), abs=1e-5)
