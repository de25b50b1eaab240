"""Image tables and figures through the workflow's own rules."""

import pytest
import yaml
from safetensors.torch import load_file

from tests.workflow.checkout import Checkout

TINY = {
    "papers": ["huang2023", "oar2024"],
    "tables": ["huang2023/table_B3", "oar2024/table_3"],
    "seeds": [1],
    "figures": ["oar2024/figure_2", "oar2024/figure_3", "huang2023"],
    "simulation": {"points": 5, "batches": 3, "steps": 2},
    "jobs": {"runs": 24},
    "image": {
        "training": {"epochs": 0.2, "batch_divisor": 4, "batch_sizes": [128, 256], "learning_rates": [0.01, 1.0],
                     "probe_epochs": 1},
    },
}  # fmt: skip


@pytest.mark.slow
def test_image_tables_and_figures_are_made_end_to_end(tmp_path):
    import pandas as pd

    folder = Checkout(tmp_path)
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    drawn = {"huang2023": ("figure_3", "figure_4"), "oar2024": ("figure_2", "figure_3")}
    figures = [f"{paper}_{name}" for paper, names in drawn.items() for name in names]
    folder.snakemake("huang2023_table_B3", "oar2024_table_3", *figures, config="tiny.yaml")
    table = pd.read_csv(tmp_path / "results/demo/tables/huang2023/table_B3.csv")
    here = table["column"].isin([128, 256])
    assert table.loc[here, "ours"].notna().all()
    assert table.loc[~here, "ours"].isna().all()
    table = pd.read_csv(tmp_path / "results/demo/tables/oar2024/table_3.csv")
    assert table["ours"].between(0, 1).all()
    assert table["note"].str.startswith("learning rate ").all()
    for paper, names in drawn.items():
        files = {file.name for file in (tmp_path / "results/demo/figures" / paper).iterdir()}
        assert files >= {f"{name}.{suffix}" for name in names for suffix in ("svg", "png", "csv")}
    spectra = pd.read_csv(tmp_path / "results/demo/figures/oar2024/figure_3.csv")
    counts = spectra["statistic"].value_counts()
    assert (counts["singular_value"], counts["affinity"]) == (4 * 64, 4 * 50 * 50)  # two losses at two rates
    places = pd.read_csv(tmp_path / "results/demo/figures/huang2023/figure_4.csv")
    assert (places["statistic"] == "class").sum() == 2 * 500
    batches = pd.read_csv(tmp_path / "results/demo/figures/huang2023/figure_3.csv")
    assert set(batches["batch_size"]) == {32, 64}
    record = next((tmp_path / "results/demo/runs/image").glob("CIFAR_ResNet-18/macl/*-b64-*/seed1/record.json"))
    names = {file.name for file in record.parent.iterdir()}
    assert names == {"record.json", "model", "statistics.json", "linear.json", "knn.json", "places.json"}
    state = load_file(record.parent / "model/model.safetensors")
    assert "layers.0.weight" in state
    assert "Nothing to be done" in folder.snakemake("-n", "oar2024_table_3", config="tiny.yaml")
    # another probe's settings probe again, and train nothing
    changed = {**TINY, "image": {"training": {**TINY["image"]["training"], "probe_epochs": 2}}}
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump(changed))
    planned = folder.planned("huang2023_table_B3", config="changed.yaml")
    assert any(job.startswith("evaluate features huang2023_images") for job in planned)
    assert not any(job.startswith("train") for job in planned)
    report = folder.run("report", "--configfile", "tiny.yaml", program="clrepro.cli")
    assert report.returncode == 0, report.stderr
    assert "conv3 on digits" in (tmp_path / "results/demo/report.html").read_text()
