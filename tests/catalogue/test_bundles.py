"""Which runs share a job."""

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.catalogue.jobs import Bundle, Jobs


def bundles_of(catalogue: Catalogue) -> list[Bundle]:
    named = Jobs(catalogue).bundles
    assert all(name == bundle.name for name, bundle in named.items())
    return list(named.values())


def test_bundles_hold_every_run_once_and_keep_apart_what_changes_apart(tmp_path):
    demo = Catalogue(configuration.load("demo"))
    bundles = bundles_of(demo)
    assert sorted(run.folder for bundle in bundles for run in bundle.runs) == sorted(run.folder for run in demo.runs)
    assert len({bundle.name for bundle in bundles}) == len(bundles)
    assert all(len(bundle.runs) <= bundle.plan.runs_per_job(demo.config) for bundle in bundles)
    # runs that no test set is for share no job with runs that one is for
    tested = {run for table in demo.tables for run in table.runs}
    tested |= {run for figure in demo.figures if figure.scores for run in figure.runs}
    assert all(len({run in tested for run in bundle.runs}) == 1 for bundle in bundles)
    # neither a row of one's own nor the figures change the jobs of the tables
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {mine: {objective: mpt, variant: written, settings: {margin: 0.5}}}")
    more = bundles_of(Catalogue(configuration.load("demo", [file])))
    assert {bundle.name for bundle in more} - {bundle.name for bundle in bundles} == {"rows_sentences_fp32_1"}
    assert [bundle for bundle in more if not bundle.name.startswith("rows")] == bundles
    bare = bundles_of(Catalogue(demo.config.model_copy(update={"figures": []})))
    assert [bundle for bundle in bundles if "figures" not in bundle.name and "scored" not in bundle.name] == bare
    # one run a job where a run is worth a job
    single = bundles_of(Catalogue(configuration.load("paper")))
    assert all(len(bundle.runs) == 1 for bundle in single)
