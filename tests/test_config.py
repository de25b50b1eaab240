"""Configuration: one typed model; what it refuses, and that docs and schema are in step with it."""

import pytest
import yaml

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.cli import config_pages
from clrepro.errors import UserError
from clrepro.paths import ROOT


def demo(**changes):
    raw = configuration.read(ROOT / "config.yaml")
    return configuration.merge(raw, changes)


def test_docs_and_schema_are_in_step_with_the_model():
    for name, text in (
        ("config.md", config_pages.reference()),
        ("config.schema.json", config_pages.schema()),
    ):
        assert (ROOT / "docs" / name).read_text("utf-8") == text, f"docs/{name} is stale: run `make docs`"


@pytest.mark.parametrize("scale", ["demo", "bench", "paper"])
def test_the_scales_files_are_valid(scale):
    assert configuration.load(scale).scale == scale


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": [1]}, "unknown key 'seed' in the configuration. Did you mean seeds"),
        ({"sentence": {"trainin": {}}}, "unknown key 'trainin' in sentence. Did you mean training"),
        (
            {"sentence": {"training": {"batchsize": 3}}},
            "unknown key 'batchsize' in sentence.training. Did you mean batch_size",
        ),
        (
            {"sentence": {"training": {"batch_size": "many"}}},
            "sentence.training.batch_size: .*got 'many' .str.",
        ),
        (
            {"sentence": {"training": {"precision": "fp61"}}},
            "unknown value 'fp61' in sentence.training.precision. Did you mean fp16",
        ),
        (
            {"sentence": {"backbones": {"BERT_base": {"layer": 2}}}},
            "unknown key 'layer' in .*BERT_base.* Did you mean layers",
        ),
        ({"scale": "dmeo"}, "unknown value 'dmeo' in scale. Did you mean demo"),
        ({"seeds": []}, "seeds: .*at least 1"),
        ({"seeds": [42, 42]}, "seeds: .*42 is given more than once"),
        ({"papers": ["nie2023", "nie2023"]}, "papers: .*nie2023 is given more than once"),
        ({"papers": ["nie2024"]}, "unknown paper 'nie2024'. Did you mean nie2023"),
        (
            {"tables": ["nie2023/table_11"]},
            "unknown table 'nie2023/table_11' in tables. Did you mean nie2023/table_1",
        ),
        (
            {"sentence": {"backbones": {"BERT_bas": {"kind": "scratch"}}}},
            "unknown backbone 'BERT_bas'.* Did you mean BERT_base",
        ),
        (
            {"sentence": {"corpus": "demo-corps"}},
            "unknown data source 'demo-corps' in sentence.corpus. Did you mean demo-corpus",
        ),
        ({"sentence": {"corpus_lines": 20}}, "batch_size 32 is larger than the corpus of 20 sentences"),
        (
            {"accept_stale": ["infonc"]},
            "unknown run or objective 'infonc' in accept_stale. Did you mean infonce",
        ),
        ({"grids": ["nie2023/L_ncl"]}, "unknown grid 'nie2023/L_ncl' in grids. Did you mean nie2023/L_cl@"),
    ],
)
def test_a_mistake_is_refused_with_value_place_and_remedy(changes, message):
    with pytest.raises(UserError, match=message):
        Catalogue(configuration.parse(demo(**changes)))


def test_every_mistake_is_named_at_once():
    with pytest.raises(UserError) as failure:
        configuration.parse(demo(seed=1, device="tpu"))
    assert "'seed'" in str(failure.value)
    assert "'tpu'" in str(failure.value)


def test_scientific_notation_that_yaml_takes_for_a_string_is_a_number():
    raw = yaml.safe_load("learning_rate: 3e-5")
    assert isinstance(raw["learning_rate"], str)
    parsed = configuration.parse(demo(sentence={"training": raw}))
    assert parsed.sentence.training.learning_rate == 3e-5


def test_a_file_that_names_a_scale_stands_alone_and_others_overlay(tmp_path):
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("seeds: [7]\n")
    assert configuration.load("demo", [overlay]).seeds == [7]
    assert configuration.load("demo", [overlay]).sentence.corpus == "demo-corpus"
    assert configuration.load("demo", [ROOT / "config/bench.yaml", overlay]).sentence.corpus == "wikipedia-sentences"


def test_single_settings_overlay_all_files_and_are_checked_as_they_are(tmp_path):
    overlay = tmp_path / "mine.yaml"
    overlay.write_text("seeds: [7]\n")
    settings = ["seeds=[8, 9]", "sentence.training.learning_rate=3e-5", "rows={wide: {objective: mpt, recipe: a.b}}"]
    found = configuration.load("demo", [overlay], settings)
    assert (found.seeds, found.sentence.training.learning_rate) == ([8, 9], 3e-5)
    assert found.rows["wide"].objective == "mpt"
    assert found.sentence.training.batch_size == configuration.load().sentence.training.batch_size
    assert configuration.parse(demo(set=settings[0])).seeds == [8, 9]  # Snakemake's --config set=...
    assert configuration.parse(demo(set=settings[:2])).sentence.training.learning_rate == 3e-5
    for wrong, message in (
        ("sentence.trainin.epochs=2", "unknown key 'trainin' in sentence.* Did you mean training"),
        ("seeds", "setting 'seeds': write it as"),
        (".seeds=1", "setting '.seeds=1': write it as"),
        ("seeds=[1", r"setting 'seeds=\[1': its value is not valid YAML"),
        ("seeds=one", "seeds: .*got 'one'"),
    ):
        with pytest.raises(UserError, match=message):
            configuration.load("demo", None, [wrong])
    with pytest.raises(UserError, match=r"set is \{'seeds': 1\}; give a text"):
        configuration.parse(demo(set={"seeds": 1}))


def test_an_overlay_may_replace_the_demos_scratch_encoder_by_pretrained_weights():
    """Overlaying merges key by key, so layers and heads of the demo's encoder are still there."""
    overlay = {"sentence": {"backbones": {"BERT_base": {"kind": "pretrained", "path": "/models/my-bert"}}}}
    config = configuration.parse(configuration.merge(configuration.read(ROOT / "config.yaml"), overlay))
    assert config.sentence.backbones["BERT_base"].model_dump() == {
        "kind": "pretrained", "source": None, "path": "/models/my-bert",
    }  # fmt: skip
    overlay["sentence"]["backbones"]["BERT_base"]["pth"] = "x"
    with pytest.raises(UserError, match="unknown key 'pth'"):
        configuration.parse(configuration.merge(configuration.read(ROOT / "config.yaml"), overlay))
