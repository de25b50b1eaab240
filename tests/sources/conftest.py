"""No real network is touched, and nothing is waited for."""

import pytest

from clrepro.sources import download
from clrepro.sources.source import source
from tests.sources.server import Hub, serving


@pytest.fixture(autouse=True)
def quick(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(download, "PAUSE", 0.001)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def hub(monkeypatch):
    from huggingface_hub import constants

    bert = source("bert-base-uncased")
    files = {"config.json": b"{}", "model.safetensors": b"weights" * 1000, "tokenizer.json": b"{}"}
    hub = Hub(bert.url, bert.revision, {**files, "pytorch_model.bin": b"a pickle", "evil.py": b"raise SystemExit"})
    with serving(hub.answer) as address:
        monkeypatch.setattr(constants, "ENDPOINT", address)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        yield hub
