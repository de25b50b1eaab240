"""Plain reference trainers: the same batches, dropout draws and views in, the same weights out, to rounding.

Written from the papers and from the released code's documented behaviour, without sight of the project's own trainers.
Optimisers, schedules and clipping are spelled out on tensors.
"""

import copy
import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

OPTIMISERS = ("adam", "adamw", "adamw_transformers", "sgd", "lars")
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
TRUST = 0.001


class Optimiser:
    """One step of a named optimiser for all parameters that have a gradient (g: gradient, w: weight, d: weight decay).

    adam                Kingma & Ba 2015, as in torch: g += d w; m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2;
                        w -= lr/(1-b1^t) m / (sqrt(v/(1-b2^t)) + eps)
    adamw               Loshchilov & Hutter 2019: w *= 1 - lr d, then Adam with the bare g
    adamw_transformers  transformers 4.x, correct_bias=True, d = 0: w -= lr sqrt(1-b2^t)/(1-b1^t) m / (sqrt(v) + eps)
    sgd                 torch: g += d w; b = g at first, then b = momentum b + g; w -= lr b
    lars                You et al. 2017: r = 0.001 |w| / (|g| + d |w|); b = momentum b + lr r (g + d w); w -= b;
                        r = 1 where |w| or the denominator is 0; vectors and scalars: r = 1, d = 0
    """

    def __init__(self, name, parameters, weight_decay=0.0, momentum=0.9):
        if name not in OPTIMISERS:
            raise ValueError(f"unknown optimiser {name!r}")
        if name == "adamw_transformers" and weight_decay:
            raise ValueError("adamw_transformers is defined for weight decay 0 only")
        self.name, self.decay, self.momentum = name, weight_decay, momentum
        self.parameters = [parameter for parameter in parameters if parameter.requires_grad]
        self.states = [{} for _ in self.parameters]

    @torch.no_grad()
    def step(self, rate):
        """Move every parameter that has a gradient; each one counts its own steps t, from 1."""
        for weight, state in zip(self.parameters, self.states, strict=True):
            if weight.grad is None:
                continue
            if self.name == "sgd":
                self._sgd(weight, weight.grad, state, rate)
            elif self.name == "lars":
                self._lars(weight, weight.grad, state, rate)
            else:
                self._adam(weight, weight.grad, state, rate)

    def zero(self):
        """Forget the gradients."""
        for weight in self.parameters:
            weight.grad = None

    def _adam(self, weight, gradient, state, rate):
        if self.name == "adam":
            gradient = gradient + self.decay * weight
        elif self.name == "adamw":
            weight.mul_(1 - rate * self.decay)
        t = state["t"] = state.get("t", 0) + 1
        first = BETA1 * state.get("first", torch.zeros_like(weight)) + (1 - BETA1) * gradient
        second = BETA2 * state.get("second", torch.zeros_like(weight)) + (1 - BETA2) * gradient * gradient
        state["first"], state["second"] = first, second
        correction1, correction2 = 1 - BETA1**t, 1 - BETA2**t
        if self.name == "adamw_transformers":
            weight.sub_(rate * math.sqrt(correction2) / correction1 * (first / (second.sqrt() + EPSILON)))
        else:
            weight.sub_(rate / correction1 * (first / ((second / correction2).sqrt() + EPSILON)))

    def _sgd(self, weight, gradient, state, rate):
        gradient = gradient + self.decay * weight
        state["buffer"] = self.momentum * state["buffer"] + gradient if "buffer" in state else gradient
        weight.sub_(rate * state["buffer"])

    def _lars(self, weight, gradient, state, rate):
        ratio, decay = 1.0, 0.0
        if weight.ndim > 1:
            decay, size = self.decay, weight.norm().item()
            denominator = gradient.norm().item() + decay * size
            if size > 0 and denominator > 0:
                ratio = TRUST * size / denominator
        velocity = self.momentum * state.get("velocity", torch.zeros_like(weight))
        state["velocity"] = velocity + rate * ratio * (gradient + decay * weight)
        weight.sub_(state["velocity"])


def learning_rate(step, steps, base, schedule="constant", warmup=0):
    """The rate of a step counted from 0.

    constant: base; linear: base (1 - step/steps);
    cosine: base step/warmup while step < warmup, then base (1 + cos(pi (step - warmup)/(steps - warmup)))/2.
    """
    if warmup and schedule != "cosine":
        raise ValueError(f"no warm-up is defined for the schedule {schedule!r}")
    if schedule == "constant":
        return base
    if schedule == "linear":
        return base * (1 - step / steps)
    if schedule == "cosine":
        if step < warmup:
            return base * step / warmup
        return base * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))
    raise ValueError(f"unknown schedule {schedule!r}")


def scaled(base, batch, rule):
    """The base rate for a batch size: fixed, x batch/256, x sqrt(batch) (SimCLR, app. B.1), x max(1, batch/256)."""
    factors = {
        "fixed": 1.0,
        "linear": batch / 256,
        "square_root": math.sqrt(batch),
        "linear_above_256": max(1.0, batch / 256),
    }
    return base * factors[rule]


@torch.no_grad()
def clip(parameters, largest):
    """Scale all gradients by min(1, largest / (norm + 1e-6)), norm = their joint L2 norm; None: leave them alone."""
    if largest is None:
        return
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = math.sqrt(sum(gradient.norm().item() ** 2 for gradient in gradients))
    factor = largest / (norm + 1e-6)
    if factor < 1:
        for gradient in gradients:
            gradient.mul_(factor)


def batches(count, size, epochs, seed, once=False):
    """The indices of each step: epoch e is a permutation seeded with seed * 1,000,003 + e (once: e = 0 throughout).

    An epoch is cut into consecutive batches; a smaller last one stays unless it is a single element. There are
    max(1, ceil(epochs * steps per epoch)) steps.
    """
    per_epoch = count // size + (count % size > 1)
    if per_epoch == 0:
        raise ValueError(f"no batch of {size} can be cut from {count} elements")
    result = []
    for step in range(max(1, math.ceil(epochs * per_epoch))):
        epoch, place = divmod(step, per_epoch)
        generator = torch.Generator().manual_seed(seed * 1_000_003 + (0 if once else epoch))
        order = torch.randperm(count, generator=generator).numpy().astype(np.int64)
        result.append(order[place * size : (place + 1) * size])
    return result


def update(optimiser, loss, step, steps, base, schedule, warmup, largest):
    """Finish a step: gradients, clipping, the optimiser at this step's rate, gradients forgotten. Returns the loss."""
    loss.backward()
    clip(optimiser.parameters, largest)
    optimiser.step(learning_rate(step, steps, base, schedule, warmup))
    optimiser.zero()
    return loss.item()


def mixed(device, precision):
    """The context of the forward pass: bfloat16 autocast or plain float32; weights and moments stay float32."""
    if precision not in ("fp32", "bf16"):
        raise ValueError(f"unknown precision {precision!r}")
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=precision == "bf16")


def pool(states, mask, pooling):
    """One vector a sentence from the hidden states (0: embedding layer, 1: first layer, ..., -1: last layer).

    cls: first token of the last layer; otherwise the mean over unmasked tokens of the last layer or of half the sum of
    two layers (SimCSE's evaluation code; its avg_first_last once took the embedding layer: avg_embeddings_last).
    """
    if pooling == "cls":
        return states[-1][:, 0]
    layers = {"avg": (-1, -1), "avg_embeddings_last": (0, -1), "avg_first_last": (1, -1), "avg_top2": (-2, -1)}
    one, two = layers[pooling]
    mixture = states[-1] if one == two else (states[one] + states[two]) / 2
    weights = mask.unsqueeze(-1).to(mixture.dtype)
    return (mixture * weights).sum(1) / weights.sum(1)


def train_sentences(
    transformer,
    head,
    batches,
    objective,
    *,
    pooling,
    freeze_embeddings,
    dropout,
    learning_rate,
    optimiser,
    weight_decay,
    clip,
    precision,
):
    """SimCSE's unsupervised training (Gao et al. 2021, sec. 3), in place; returns the losses.

    Each sentence enters twice, in one pass of interleaved rows; dropout makes the views: loss = objective(z, z'). The
    rate falls linearly to 0 over the given batches of (ids, mask).
    """
    if dropout is not None:
        # transformers 5 hands the attention kernel `self.dropout.p` of the attention's own nn.Dropout
        for module in transformer.modules():
            if isinstance(module, nn.Dropout):
                module.p = float(dropout)
    if freeze_embeddings:
        transformer.embeddings.requires_grad_(False)
    head = nn.Identity() if head is None else head
    transformer.train()
    head.train()
    rule = Optimiser(optimiser, [*transformer.parameters(), *head.parameters()], weight_decay)
    device = next(transformer.parameters()).device
    losses = []
    for step, (ids, mask) in enumerate(batches):
        ids = ids.to(device).repeat_interleave(2, dim=0)
        mask = mask.to(device).repeat_interleave(2, dim=0)
        with mixed(device, precision):
            states = transformer(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
            vectors = head(pool(states, mask, pooling))
        loss = objective(vectors[0::2], vectors[1::2])
        losses.append(update(rule, loss, step, len(batches), learning_rate, "linear", 0, clip))
    return losses


class Ring:
    """A store of unit rows: new rows overwrite the oldest, from row 0 on, wrapping around (He et al. 2020)."""

    def __init__(self, rows):
        self.rows, self.pointer = rows.detach().clone(), 0

    @torch.no_grad()
    def enter(self, vectors):
        """Put L2-normalised vectors in the place of the oldest rows (a new tensor: graphs keep the old one)."""
        size = len(self.rows)
        places = (self.pointer + torch.arange(len(vectors), device=self.rows.device)) % size
        rows = self.rows.clone()
        rows[places[-size:]] = unit(vectors, rows)[-size:]
        self.rows, self.pointer = rows, (self.pointer + len(vectors)) % size

    @torch.no_grad()
    def nearest(self, vectors):
        """For each vector the stored row with the largest cosine similarity."""
        return self.rows[(unit(vectors, self.rows) @ self.rows.T).argmax(dim=1)]


def unit(vectors, like):
    """Rows of length 1 without gradient, in the type of another tensor (float32 also under mixed precision)."""
    return F.normalize(vectors.detach().to(like.dtype), dim=1)


def two_views(networks, images, objective, symmetric, extras, context):
    """SimCLR (Chen et al. 2020): one pass of all 2N images, so that the views share batch-norm statistics.

    loss = objective(z1, z2), or symmetric: (objective(z1, z2) + objective(z2, z1)) / 2.
    """
    with context():
        z1, z2 = networks["projector"](networks["encoder"](torch.cat(images))).chunk(2)
    loss = objective(z1, z2, **extras)
    return (loss + objective(z2, z1, **extras)) / 2 if symmetric else loss


def momentum_contrast(networks, keepers, ring, images, objective, key_momentum, extras, context):
    """MoCo v2 (He et al. 2020, alg. 1): queries by the trained networks, keys by their averages k = m k + (1-m) q.

    The averages take this step's query weights before the keys are computed; buffers (batch norm) are the key
    networks' own. loss = objective(q, k, queue); the keys enter the queue afterwards.
    """
    with context():
        query = networks["projector"](networks["encoder"](images[0]))
    with torch.no_grad():
        for name, keeper in keepers.items():
            for slow, fast in zip(keeper.parameters(), networks[name].parameters(), strict=True):
                slow.copy_(key_momentum * slow + (1 - key_momentum) * fast)
        with context():
            keys = keepers["projector"](keepers["encoder"](images[1]))
    loss = objective(query, keys, queue=ring.rows, **extras)
    ring.enter(keys)
    return loss


def nearest_neighbours(networks, ring, images, objective, extras, context):
    """NNCLR (Dwibedi et al. 2021, eqs. 2-4): positives are the nearest rows of a support set of former projections.

    loss = (objective(nn(z1), p2) + objective(nn(z2), p1)) / 2 with p = predictor(z); z1 enters the set afterwards.
    """
    with context():
        z = networks["projector"](networks["encoder"](torch.cat(images)))
        p1, p2 = networks["predictor"](z).chunk(2)
    z1, z2 = z.chunk(2)
    loss = (objective(ring.nearest(z1), p2, **extras) + objective(ring.nearest(z2), p1, **extras)) / 2
    ring.enter(z1)
    return loss


def train_images(
    framework,
    networks,
    views,
    objective,
    *,
    symmetric=False,
    key_momentum=None,
    labels=None,
    anchors=None,
    steps_per_epoch,
    batch_size,
    learning_rate,
    learning_rate_rule,
    optimiser,
    momentum,
    weight_decay,
    schedule,
    warmup_epochs,
    clip,
    precision,
):
    """Train on pairs of augmented views: plain or simclr, moco, nnclr; in place; returns the losses.

    The dict `networks` gets back the last queue or support set, and for moco key_encoder and key_projector.
    """
    if framework not in ("plain", "simclr", "moco", "nnclr"):
        raise ValueError(f"unknown framework {framework!r}")
    if symmetric and framework in ("moco", "nnclr"):
        raise ValueError(f"{framework} has a fixed direction")
    trained = [networks[name] for name in ("encoder", "projector", "predictor") if name in networks]
    for network in trained:
        network.train()
    device = next(networks["encoder"].parameters()).device
    keepers = {}
    if framework == "moco":
        keepers = {name: copy.deepcopy(networks[name]).requires_grad_(False) for name in ("encoder", "projector")}
    store = {"moco": "queue", "nnclr": "support"}.get(framework)
    ring = Ring(networks[store].to(device)) if store else None
    parameters = [parameter for network in trained for parameter in network.parameters()]
    rule = Optimiser(optimiser, parameters, weight_decay, momentum)
    base, warmup = scaled(learning_rate, batch_size, learning_rate_rule), round(warmup_epochs * steps_per_epoch)
    context, losses = partial(mixed, device, precision), []
    for step, pair in enumerate(views):
        images = [view.to(device) for view in pair]
        extras = {} if labels is None else {"labels": labels[step].to(device), "anchors": anchors}
        if framework == "moco":
            loss = momentum_contrast(networks, keepers, ring, images, objective, key_momentum, extras, context)
        elif framework == "nnclr":
            loss = nearest_neighbours(networks, ring, images, objective, extras, context)
        else:
            loss = two_views(networks, images, objective, symmetric, extras, context)
        losses.append(update(rule, loss, step, len(views), base, schedule, warmup, clip))
    if ring is not None:
        networks[store] = ring.rows
    networks.update({f"key_{name}": keeper for name, keeper in keepers.items()})
    return losses


def train_graphs(encoder, views, objective, *, learning_rate, optimiser, weight_decay, schedule, clip):
    """GraphCL (You et al. 2020): one pass for each view (batch norm apart), loss = objective(z1, z2); no warm-up."""
    encoder.train()
    rule = Optimiser(optimiser, encoder.parameters(), weight_decay)
    losses = []
    for step, (view1, view2) in enumerate(views):
        z1 = encoder(view1)
        z2 = encoder(view2)
        loss = objective(z1, z2)
        losses.append(update(rule, loss, step, len(views), learning_rate, schedule, 0, clip))
    return losses


def apart(one, other):
    """The distance of two models' weights by the length of the first, over what both have of numbers.

    Not the largest difference: a weight whose gradient is near 0 moves by Adam's whole step in either direction.
    """
    keys = [key for key, value in one.items() if key in other and value.is_floating_point()]
    distance = sum(float((one[key] - other[key]).square().sum()) for key in keys)
    return (distance / sum(float(one[key].square().sum()) for key in keys)) ** 0.5
