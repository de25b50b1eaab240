"""What GitHub reads: workflows, forms, citation, catalogue, pre-commit; every command that they name exists."""

import re
import tomllib
from itertools import chain

import pytest
import yaml

from clrepro import __version__
from clrepro.catalogue import papers
from clrepro.cli import app
from clrepro.paths import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(file for file in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if file.stem != "config")
# a branch or `latest` would be another program tomorrow
PINNED = re.compile(r"[\w-]+/[\w./-]+@v\d+(\.\d+){0,2}")
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text("utf-8"), re.M))
COMMANDS = {command.name or command.callback.__name__ for command in app.registered_commands}


def load(path: str) -> dict:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def jobs(file) -> dict[str, dict]:
    return yaml.safe_load(file.read_text("utf-8"))["jobs"]


def wrong_commands(text: str) -> list[str]:
    """Targets of make and commands of clrepro that a text names and that there are not."""
    named = re.findall(r"\bmake ([a-z][a-z-]*)", text)
    called = re.findall(r"\bclrepro ([a-z]+)\b", text)
    return [*(name for name in named if name not in TARGETS), *(name for name in called if name not in COMMANDS)]


def test_a_wrong_command_is_noticed():
    text = "make test TESTERS=4; make tests; clrepro doctor --scale paper; clrepro --help; clrepro doktor"
    assert wrong_commands(text) == ["tests", "doktor"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_is_whole_pinned_and_bounded(file):
    text = yaml.safe_load(file.read_text("utf-8"))
    # YAML 1.1 reads the key `on` as true
    assert {"name", True, "permissions", "jobs"} <= set(text)
    assert text["permissions"] == {"contents": "read"}, "rights to write belong to the job that needs them"
    for name, job in text["jobs"].items():
        assert job.get("needs", name) in text["jobs"]
        assert job["timeout-minutes"] <= 180, name
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step), step
            assert "uses" not in step or PINNED.fullmatch(step["uses"]), step["uses"]
            assert wrong_commands(step.get("run", "")) == []


def test_what_one_job_hands_to_another_has_one_name():
    steps = [step for job in jobs(GITHUB / "workflows" / "release.yml").values() for step in job["steps"]]
    kept = {step["with"]["name"] for step in steps if "upload-artifact" in step.get("uses", "")}
    taken = {step["with"]["name"] for step in steps if "download-artifact" in step.get("uses", "")}
    assert kept == taken == {"dist"}


def test_only_the_jobs_that_publish_may_write():
    rights = {
        f"{file.stem}/{name}": {key for key, value in job["permissions"].items() if value == "write"}
        for file in WORKFLOWS
        for name, job in jobs(file).items()
        if "permissions" in job
    }
    assert {name: found for name, found in rights.items() if found} == {
        "docs/deploy": {"pages", "id-token"},
        "release/publish": {"id-token"},
        "release/page": {"contents"},
    }


def test_the_tests_run_on_every_python_that_the_package_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    tested = jobs(GITHUB / "workflows" / "tests.yml")["test"]["strategy"]["matrix"]["python"]
    assert project["requires-python"] == f">={tested[0]}"
    named = [one.rpartition(" ")[2] for one in project.get("classifiers", []) if re.search(r"Python :: 3\.\d+$", one)]
    assert tested == ["3.11", "3.12", "3.13"] == (named or tested)


@pytest.mark.parametrize("file", FORMS, ids=lambda file: file.stem)
def test_a_form_can_be_filled_in_and_asks_for_commands_that_there_are(file):
    form = yaml.safe_load(file.read_text("utf-8"))
    assert {"name", "description", "body"} <= set(form)
    fields = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in fields}) == len(fields)
    assert {part["type"] for part in form["body"]} <= {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert all(part["attributes"]["label"] for part in fields)
    assert wrong_commands(file.read_text("utf-8")) == []
    asked = " ".join(part["attributes"]["label"] for part in fields if part.get("validations", {}).get("required"))
    assert "clrepro doctor" in asked
    assert ("clrepro compare" in asked) == (file.stem == "number")


def test_the_files_that_forms_and_pages_name_exist():
    texts = [file.read_text("utf-8") for file in [*FORMS, *GITHUB.glob("*.md"), ROOT / "docs" / "CONTRIBUTING.md"]]
    named = set(chain.from_iterable(re.findall(r"\b(?:docs|papers|results|tests)/[\w./*-]+\w", text) for text in texts))
    assert "docs/faults.md" in named
    assert [path for path in sorted(named) if not list(ROOT.glob(path.replace("<paper>", "*")))] == []
    assert all(wrong_commands(text) == [] for text in texts)


def test_the_citation_names_the_papers_as_their_texts_do():
    citation = load("CITATION.cff")
    assert citation["version"] == __version__
    cited = {
        reference["title"]: (
            [
                " ".join(filter(None, map(one.get, ("given-names", "family-names", "name"))))
                for one in reference["authors"]
            ],
            reference["year"],
        )
        for reference in citation["references"]
    }
    stated = [papers.load(paper, "published")["paper"] for paper in papers.paper_keys()]
    assert cited == {paper["title"]: (paper["authors"], paper["year"]) for paper in stated}


def test_ruff_before_a_commit_is_the_locked_one():
    (repository,) = load(".pre-commit-config.yaml")["repos"]
    assert f"ruff=={repository['rev'].removeprefix('v')} " in (ROOT / "requirements.lock").read_text("utf-8")


def test_the_catalogue_of_workflows_knows_how_this_one_is_used():
    usage = load(".snakemake-workflow-catalog.yml")["usage"]
    assert usage["software-stack-deployment"]["conda"] is ((ROOT / "envs").is_dir())
    explained = (ROOT / "config" / "README.md").read_text("utf-8")
    assert [file.name for file in (ROOT / "config").glob("*.yaml") if f"`{file.name}`" not in explained] == []


def test_the_changelog_has_an_entry_for_what_is_not_released_and_versions_in_order():
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert headings[0] == ("Unreleased", "")
    assert [date for _, date in headings[1:]] == sorted((date for _, date in headings[1:]), reverse=True)
    assert all(date for _, date in headings[1:])
