"""Settings behind the papers' figures against a second transcription, made without sight of the first."""

import yaml

from tests.catalogue.test_transcription import FOLDER, NAMES, differences, merged

# a transcribed series under another name, or none of ours
SERIES = {
    "STS": "L_mpt", "TR": "L_mpt", "without gradient dissipation": "without dissipation", "original BERT": None,
    "ori": None, "ArcCon": "arc", "MET": "met", "baseline with other m": "margin",
    "baseline with other tau": "temperature", "VICreg": "VICReg", "OAR-VICreg": "OAR-VICReg",
    ("figure_6", "baseline with other r"): "ratio", ("figure_8c", "baseline with other r"): "baseline",
}  # fmt: skip
NOT_OF_A_RUN = {"objective", "sentences", "dataset", "embedding", "augmentation", "similarity", "gradient_dissipation"}


def test_settings_behind_figures_are_those_of_the_second_transcription(with_imagenet):
    content = yaml.safe_load((FOLDER / "figures.yaml").read_text("utf-8"))
    wrong, compared, transcribed = [], 0, set()
    for paper, figures in content.items():
        for name, part in figures.items():
            short = "figure_6" if name.startswith("figure_6_") and paper == "li2024" else name
            figure, varied = with_imagenet.figure(f"{paper}/{short}"), part.get("vary", {})
            transcribed.add(f"{paper}/{short}")
            for label, settings in part["series"].items():
                series, _, backbone = label.partition(" ") if label.startswith("m") else (label, "", "")
                series = SERIES.get((short, series), SERIES.get(series, series))
                if series is None:
                    continue
                points = [one for one in figure.points if one.series == series and backbone in ("", one.backbone)]
                assert points, (paper, name, label)
                wanted = {key: value for key, value in merged(part.get("all", {}), settings).items()
                          if key not in NOT_OF_A_RUN}  # fmt: skip
                if "probe" in wanted and "labelled" not in wanted["probe"]:
                    wanted["probe"] = {**wanted["probe"], "labelled": varied["probe.labelled"][0]}
                if wanted.get("backbone") == "BERT_base":
                    wanted["backbone"] = "bert-base-uncased"
                if "gradient_dissipation" in settings:
                    wanted["margin"] = None  # 1 wherever the term stands
                for run in (run for point in points for run in point.runs):
                    found = differences(run, "10%", wanted)
                    wrong += [(paper, name, label, key, *pair) for key, pair in found.items()]
                    compared += len(wanted)
                for key, values in varied.items():
                    if key == "probe.labelled":  # evaluations, of the same runs
                        kinds = {score.split("/")[0] for score in figure.scores}
                        assert kinds >= {f"finetune_{100 * value:.0f}" for value in values}
                        continue
                    ours = {run.settings[NAMES.get(key, key)] for point in points for run in point.runs}
                    assert ours >= set(values), (paper, name, key)
                    assert (min(ours), max(ours)) == (min(values), max(values))
    assert wrong == []
    assert compared > 500
    # of all figures of trained encoders, but one of ours
    assert transcribed == {*with_imagenet.figure_names()} - {"huang2023/graph_epochs"}
