"""Small trainings of a sentence encoder."""

from safetensors.torch import load_file

from clrepro import objectives
from clrepro.modalities.sentence.training import train_encoder
from clrepro.training import loop

SETTINGS = dict(
    pooling="cls", head="tanh", head_at_selection=True, freeze_embeddings=False, dropout=None, batch_size=16,
    learning_rate=1e-3, epochs=0.5, evaluate_every=5, max_length=16, precision="fp32", weight_decay=0.0, clip=1.0,
    optimiser="adamw_transformers",
)  # fmt: skip


def train(tiny, demo_tasks, state, objective=None, **changes):
    folder, model, _ = tiny
    with loop.StopFlag() as stop:
        return run_training(folder, model, demo_tasks, state, stop, objective, changes)


def run_training(folder, model, demo_tasks, state, stop, objective, changes):
    return train_encoder(
        objective or objectives.make("infonce"), {**SETTINGS, **changes}, 42,
        tokens=folder, backbone=model, tasks=demo_tasks, device="cpu", state=state, stop=stop,
    )  # fmt: skip


def weights(state):
    (best,) = state.glob("best-*")
    return load_file(best / "model.safetensors")
