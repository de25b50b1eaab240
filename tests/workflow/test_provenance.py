"""Where a result came from: energy and hardware."""

import json

from clrepro.workflow import provenance


def test_energy_is_what_the_counters_of_all_packages_rose_by(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "POWERCAP", tmp_path)
    monkeypatch.setattr(provenance, "_gpu_counters", dict)
    assert provenance.Energy().used() is None

    def counter(name, joules):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "energy_uj").write_text(str(int(joules * 1e6)))
        (tmp_path / name / "max_energy_range_uj").write_text(str(int(1e4 * 1e6)))

    counter("intel-rapl:0", 100)
    counter("intel-rapl:1", 9_990)
    counter("intel-rapl:0:0", 5)  # a part of package 0
    energy = provenance.Energy()
    counter("intel-rapl:0", 3_690)
    counter("intel-rapl:1", 0)  # it went over its end
    counter("intel-rapl:0:0", 500)
    assert energy.used() == {"cpu": 1.0}  # (3590 + 10) J


def test_hardware_names_no_host():
    import platform

    found = provenance.hardware("cpu")
    assert found["cores"] >= 1
    assert platform.node() not in json.dumps(found)
