"""The simulated schedule of the paper scale: makespans by hand, and the jobs of the catalogue."""

from collections import Counter

import pytest

from benchmarks.paper_scale import Job, by_priority, jobs_of, longest_first, schedule
from clrepro.catalogue import Catalogue
from clrepro.catalogue.jobs import Jobs
from clrepro.config import load


def test_jobs_wait_for_what_they_need_and_for_the_latency():
    jobs = [
        Job("a", "train", 90.0, start=10.0),  # 5 to 105
        Job("b", "train", 50.0),  # 5 to 55
        Job("c", "train", 40.0, needs=("a",)),  # 110 to 150
        Job("d", "evaluate", 10.0, pool="core", amount=2, needs=("b",)),  # 60 to 70
        Job("e", "evaluate", 30.0, pool="core", needs=("b",)),  # 70 to 100: d takes both cores
        Job("f", "report", 20.0, pool="local", needs=("c", "d", "e")),  # 155 to 175
    ]
    done = schedule(jobs, {"gpu": 2, "core": 2, "local": 2}, 5.0, by_priority)
    assert (done.makespan, done.submissions) == (175.0, 6)
    assert done.busy == {"gpu": 190.0, "core": 50.0, "local": 20.0}


@pytest.mark.parametrize(("order", "makespan"), [(by_priority, 30.0), (longest_first, 20.0)])
def test_the_order_of_waiting_jobs(order, makespan):
    jobs = [Job("a", "train", 10.0), Job("b", "train", 10.0), Job("c", "embed", 20.0)]
    assert schedule(jobs, {"gpu": 2}, 0.0, order).makespan == makespan


def test_a_job_that_meets_its_limit_is_submitted_again_with_more_time():
    job = Job("a", "train", 300.0, start=10.0, limit=200.0)
    assert job.attempts == [80.0, 240.0]  # 70 s of work before the warning, then 230 s
    done = schedule([job], {"gpu": 1}, 5.0, by_priority)
    assert (done.makespan, done.submissions) == (5.0 + 80.0 + 5.0 + 240.0, 2)
    with pytest.raises(ValueError, match="a has 0.4 h of work left after 4 attempts"):
        _ = Job("a", "train", 2920.0, start=10.0, limit=200.0).attempts


def test_all_jobs_of_the_catalogue_but_downloads_are_scheduled():
    catalogue = Catalogue(load("demo"))
    left_out = {"fetch", "generate", "printed_tables"}
    counts = {rule: count for rule, count in Jobs(catalogue).counts.items() if rule not in left_out}
    jobs = jobs_of(catalogue, 0.0)
    assert Counter(job.rule for job in jobs) == counts
    known = {job.name for job in jobs}
    assert all(need in known for job in jobs for need in job.needs)
    assert all(job.needs for job in jobs if job.rule not in ("prepare", "simulate", "theory"))
