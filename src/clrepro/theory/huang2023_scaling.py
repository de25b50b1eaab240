"""Huang et al. 2023 (MACL): the gradient scaling factor W over K and tau, and the entropy of the weights.

Notation as in `huang2023`.
"""

import math

import torch
from torch import Tensor

from clrepro.theory._common import BOTH, CORRECTED, PRINTED, Check, Outcome, bounded, decides, equal, gradient
from clrepro.theory.huang2023 import HOW, TAU, keys, scaling

__all__ = ["CHECKS"]


def proposition_1() -> list[Check]:
    """(9): W -> 1 as K -> infinity; (16): 1 - E_i / (E_i + K E_min) <= W <= 1 - E_i / (E_i + K E_max)."""
    _, _, _, s = keys()
    positive, negatives = s[:, 0], s[:, 1:]
    w = scaling(positive, negatives, TAU)
    count = negatives.shape[1]
    low, high = (torch.sigmoid((x - positive) / TAU + math.log(count)) for x in (negatives.amin(1), negatives.amax(1)))
    more = torch.stack([scaling(positive, negatives[:, :k], TAU) for k in range(1, count + 1)])
    # the slowest case: positive at cosine 1, all negatives at -1
    worst = torch.sigmoid(torch.tensor(math.log(1e30) - 2 / TAU, dtype=torch.float64))
    queue = torch.sigmoid(math.log(65536) - 2 / torch.tensor([0.05, 0.1, 0.5], dtype=torch.float64))
    shown = ", ".join(f"{x:.3g}" for x in queue.tolist())
    how = "W of 300 anchors with 12 negatives, tau 0.1, seed 0"
    return [
        Check(
            "equation (16)",
            "W lies between its values for K equal negatives, the easiest or the hardest",
            BOTH,
            how,
            bounded(torch.cat([low, w]), torch.cat([w, high])),
        ),
        Check(
            "proposition 1",
            "W tends to 1 as the number of negatives grows",
            BOTH,
            f"K = 1e30 in the slowest case, positive 1 and negatives -1, tau {TAU}",
            equal(worst, torch.ones_like(worst)).adding(f"there K = 65536 gives W = {shown} at tau 0.05, 0.1, 0.5"),
        ),
        Check(
            "proposition 1",
            "1 bounds W, which grows with every further negative",
            BOTH,
            how,
            bounded(torch.cat([more[:-1], w.unsqueeze(0)]), torch.cat([more[1:], torch.ones_like(w).unsqueeze(0)])),
        ),
    ]


def temperatures() -> Tensor:
    """A fine geometric grid from 0.01 to 1000."""
    return torch.logspace(-2, 3, 1001, dtype=torch.float64)


def turns(values: Tensor) -> Tensor:
    """Whether a sequence, along the last axis, both rises and falls, but for rounding."""
    steps = values.diff()
    return (steps > 1e-12).any(-1) & (steps < -1e-12).any(-1)


def proposition_2() -> list[Check]:
    """(10): W -> K/(K+1) as tau -> infinity; monotone in tau only if s_i >= max_j s_j or s_i <= mean_j s_j."""
    _, _, _, s = keys()
    positive, negatives = s[:, 0], s[:, 1:]
    limit = negatives.shape[1] / (1 + negatives.shape[1])
    tau = temperatures()
    curves = scaling(positive.unsqueeze(1), negatives.unsqueeze(1), tau.unsqueeze(1))
    example = torch.tensor([0.9] + [0.0] * 15, dtype=torch.float64)
    curve = scaling(
        torch.tensor(0.5, dtype=torch.float64).expand(len(tau)), example.expand(len(tau), -1), tau.unsqueeze(1)
    )
    lowest = int(curve.argmin())
    text = (
        f"positive 0.5, negatives 0.9 and fifteen 0: W = {float(curve[0]):.4f} at tau 0.01, smallest "
        f"{float(curve[lowest]):.4f} at tau {float(tau[lowest]):.3f}, {float(curve[-1]):.4f} at tau 1000, "
        f"K/(K+1) = {16 / 17:.4f}"
    )
    how = "1001 temperatures from 0.01 to 1000, 300 anchors with 12 negatives, seed 0, and one constructed"
    broken = torch.cat([turns(curves), turns(curve).unsqueeze(0)])
    easy, hard = positive >= negatives.amax(1), positive <= negatives.mean(1)
    end = scaling(positive, negatives, 1e9)
    all_curves = torch.cat([curves, curve.unsqueeze(0)])
    limits = torch.cat([torch.full((len(curves),), limit), torch.full((1,), 16 / 17)]).double().unsqueeze(1)
    return [
        Check(
            "proposition 2",
            "W tends to K/(K+1) as the temperature grows",
            BOTH,
            "tau 1e9, 300 anchors, 1e-8 relative",
            equal(end, torch.full_like(end, limit), 1e-8),
        ),
        Check(
            "proposition 2",
            "W changes monotonically with the temperature",
            PRINTED,
            how,
            decides(~broken, torch.ones_like(broken)).adding(text),
        ),
        Check(
            "proposition 2",
            "W is monotone if the positive is at least the largest or at most the mean negative",
            CORRECTED,
            f"{how}; rising in the first case, falling in the second",
            decides(
                torch.cat([(curves[easy].diff() >= -1e-12).all(1), (curves[hard].diff() <= 1e-12).all(1)]),
                torch.ones(int(easy.sum() + hard.sum()), dtype=torch.bool),
            ).adding(f"{int(easy.sum())} and {int(hard.sum())} anchors"),
        ),
        Check(
            "proposition 2",
            "K/(K+1) bounds W from above",
            PRINTED,
            how,
            bounded(all_curves, limits.expand_as(all_curves)),
        ),
        Check(
            "proposition 2",
            "K/(K+1) bounds W from below",
            PRINTED,
            how,
            bounded(limits.expand_as(all_curves), all_curves),
        ),
        Check(
            "proposition 2",
            "K/(K+1) bounds W from above if the positive is at least the largest negative, from below "
            "if it is at most their mean",
            CORRECTED,
            how,
            bounded(
                torch.cat([curves[easy], torch.full_like(curves[hard], limit)]),
                torch.cat([torch.full_like(curves[easy], limit), curves[hard]]),
            ),
        ),
    ]


def equation_19() -> list[Check]:
    """(19): dW/dtau = E_i sum_r (s_i - s_r) E_r / (tau^2 (E_i + sum_r E_r)^2); printed with indices mixed up."""
    _, _, _, s = keys()
    positive, negatives = s[:, 0], s[:, 1:]
    tau = torch.full((len(s), 1), TAU, dtype=torch.float64)
    actual = gradient(lambda x: scaling(positive, negatives, x), tau).squeeze(1)
    e_i, e = (positive / TAU).exp(), (negatives / TAU).exp()
    right = e_i * ((positive.unsqueeze(1) - negatives) * e).sum(1) / (TAU * (e_i + e.sum(1))).square()
    count = negatives.shape[1]
    # free r in the sum over j, free j in the sum over r: (anchors, r, j)
    top = count * (positive.unsqueeze(1) - negatives) * e
    bottom = (TAU * (e_i.unsqueeze(1) + count * e)).square()
    choices = (e_i.view(-1, 1, 1) * top.unsqueeze(2) / bottom.unsqueeze(1)).flatten(1)
    nearest = (choices - actual.unsqueeze(1)).abs().argmin(1, keepdim=True)
    said = "the derivative of W by the temperature"
    return [
        Check(
            "equation (19)",
            said,
            PRINTED,
            f"{HOW}; of all free indices those that fit best",
            equal(choices.gather(1, nearest).squeeze(1), actual),
        ),
        Check("equation (19)", said, CORRECTED, HOW, equal(right, actual)),
    ]


def entropy(weights: Tensor) -> Tensor:
    return torch.special.entr(weights).sum(-1)


def entropies() -> list[Check]:
    """The entropy of softmax weights: d/dtau = variance of s under them / tau^3, positive unless all s are equal."""
    _, _, _, s = keys()
    tau = torch.logspace(-1.3, 1, 200, dtype=torch.float64).view(-1, 1)
    rows = []
    for name, x in (("the negatives' shares, equation (4)", s[:, 1:]), ("all keys, the positive among them", s)):
        curves = entropy((x.unsqueeze(1) / tau).softmax(-1))
        steps = curves.diff()
        lowest = float(steps.min())
        outcome = Outcome(
            decides(steps > 0, torch.ones_like(steps, dtype=torch.bool)).verdict,
            f"smallest of {steps.numel()} steps {lowest:.3g}",
        )
        rows.append(
            Check(
                "sections 3.3, 7.3",
                f"the entropy of the weights strictly grows with the temperature, {name}",
                BOTH,
                "300 anchors, 200 temperatures from 0.05 to 10, seed 0",
                outcome,
            )
        )
    at = torch.full((len(s), 1), 0.3, dtype=torch.float64)
    weights = (s[:, 1:] / 0.3).softmax(1)
    variance = (weights * s[:, 1:].square()).sum(1) - (weights * s[:, 1:]).sum(1).square()
    slope = gradient(lambda t: entropy((s[:, 1:] / t).softmax(1)), at).squeeze(1)
    rows.append(
        Check(
            "section 7.3",
            "the entropy's derivative by tau is the weights' variance of the cosines over tau^3",
            BOTH,
            "autograd, 300 anchors, tau 0.3",
            equal(variance / 0.3**3, slope),
        )
    )
    unnormalised = torch.special.entr((s.unsqueeze(1) / tau).softmax(-1)[..., 1:]).sum(-1).diff()
    worst = f"largest fall in one step {float(unnormalised.min()):.3g}"
    rows.append(
        Check(
            "section 7.3",
            "without the positive's term the entropy of the P_ij grows with the temperature too",
            BOTH,
            "300 anchors, 200 temperatures from 0.05 to 10, seed 0",
            decides(unnormalised > 0, torch.ones_like(unnormalised, dtype=torch.bool)).adding(worst),
        )
    )
    return rows


CHECKS = (
    proposition_1,
    proposition_2,
    equation_19,
    entropies,
)
