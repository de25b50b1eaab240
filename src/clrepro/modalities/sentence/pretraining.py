"""Pre-training of small encoders as masked language models (BERT, Devlin et al. 2019, section 3.1, task 1)."""

import math
import sys

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm
from transformers import BertForMaskedLM, PreTrainedTokenizerFast

from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.modalities.sentence import packing
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.training.resuming import Resumable

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]  # the first ids of the vocabulary
BATCH = 64
MASKED = 0.15
LOOK = 25  # steps between two looks at the loss, each of which waits for the device
LINES = 50  # of a log, in a whole pre-training


def mask_tokens(ids: Tensor, tokenizer: PreTrainedTokenizerFast) -> tuple[Tensor, Tensor]:
    """BERT's corruption: (corrupted ids, mask of the positions to predict), both (B, T).

    15 % of the ordinary tokens are predicted; of these 80 % become [MASK], 10 % a random token, 10 % stay.
    """
    chosen = (torch.rand(ids.shape) < MASKED) & (ids >= len(SPECIAL))
    fate = torch.rand(ids.shape)
    corrupted = ids.masked_fill(chosen & (fate < 0.8), tokenizer.mask_token_id)
    random = torch.randint(len(SPECIAL), len(tokenizer), ids.shape)
    return torch.where(chosen & (fate >= 0.9), random, corrupted), chosen


def factor(step: int, steps: int) -> float:
    """Of the learning rate: up to 1 over the first tenth of the steps, and linearly down to 0."""
    return min((step + 1) / max(1, steps // 10), 1 - step / steps)


def pretrain(
    model: BertForMaskedLM, tokenizer: PreTrainedTokenizerFast, corpus: TokenisedCorpus, spec: dict, state, stop, device
) -> dict:
    """Train with AdamW, batches of 64; returns sentences, epochs, steps, the loss by epoch (nats a token) and seconds.

    spec: mlm_epochs, mlm_learning_rate, seed. What a step draws follows from the seed and its number. The state is
    saved in ``state`` every few minutes and once ``stop`` was requested, which raises Interrupted; if it is there,
    training goes on from it and ends, on a CPU, in the same weights to the bit.
    """
    per_epoch = max(1, len(corpus) // BATCH)
    steps = spec["mlm_epochs"] * per_epoch
    place = choose_device(device)
    model.to(place)
    model.bert.set_attn_implementation(packing.ATTENTION)
    optimiser = torch.optim.AdamW(model.parameters(), lr=spec["mlm_learning_rate"], weight_decay=0.01, fused=True)
    kept = Resumable(state, model, optimiser, stop)
    first, fresh = kept.step, []
    epoch, order = -1, np.empty(0, int)
    model.train()
    with tqdm(total=steps, initial=first, desc="masked language model", unit="step", disable=None, leave=False) as bar:
        for step in range(first, steps):
            if step % LOOK == 0:
                kept.between_steps(step, steps)
            if step // per_epoch != epoch:
                epoch = step // per_epoch
                order = np.random.default_rng([spec["seed"], epoch]).permutation(len(corpus))
            begin = step % per_epoch * BATCH
            for group in optimiser.param_groups:
                group["lr"] = spec["mlm_learning_rate"] * factor(step, steps)
            torch.manual_seed(spec["seed"] * 1_000_003 + step)
            fresh.append(update(model, optimiser, tokenizer, corpus, order[begin : begin + BATCH]))
            bar.update()
            if (step + 1) % LOOK and step + 1 < steps:
                continue
            kept.losses += torch.stack(fresh).tolist()
            fresh.clear()
            if not math.isfinite(loss := float(np.mean(kept.losses[-LOOK:]))):
                raise UserError(f"pre-training diverged before step {step + 1}: lower the backbone's mlm_learning_rate")
            bar.set_postfix(loss=f"{loss:.3f}")
            if bar.disable and (step + 1) // LOOK % math.ceil(steps / LOOK / LINES) == 0:  # no terminal
                left = kept.seconds / (step + 1) * (steps - step - 1) / 60
                line = f"    masked language model, step {step + 1}/{steps}: loss {loss:.3f}"
                print(f"{line}, {left:.0f} min left", file=sys.stderr, flush=True)
    kept.save(steps)
    model.to("cpu")
    by_epoch = np.mean(np.reshape(kept.losses, (spec["mlm_epochs"], per_epoch)), axis=1)
    about = {"sentences": len(corpus), "epochs": spec["mlm_epochs"], "steps": steps}
    return {**about, "loss": by_epoch.round(4).tolist(), "seconds": round(kept.seconds)}


def update(
    model: BertForMaskedLM, optimiser: torch.optim.Optimizer, tokenizer, corpus: TokenisedCorpus, rows: np.ndarray
) -> Tensor:
    """One step; its loss, the mean cross entropy of the predicted tokens."""
    ids, mask = map(torch.from_numpy, corpus.batch(rows))
    corrupted, chosen = mask_tokens(ids, tokenizer)
    places = chosen.flatten().nonzero().flatten()
    answers = ids.flatten()[places].to(model.device, non_blocking=True)
    hidden = packing.hidden_states(model.bert, corrupted, mask, "avg")[-1].flatten(0, 1)
    # the vocabulary's logits are computed at the predicted positions only
    predicted = model.cls(hidden.index_select(0, places.to(model.device, non_blocking=True)))
    loss = functional.cross_entropy(predicted, answers)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    return loss.detach()
