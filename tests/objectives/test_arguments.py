"""How an objective is asked for: names, variants, parameters, views."""

import importlib
import inspect
import json
import math

import numpy as np
import pytest
import torch

from clrepro import objectives
from clrepro.errors import UserError


@pytest.mark.parametrize("name", objectives.names())
def test_signatures_read_from_source_are_the_functions_own(name):
    module = importlib.import_module(f"clrepro.objectives.{name}")
    for variant, parameters in objectives.signatures(name).items():
        own = inspect.signature(module.VARIANTS[variant]).parameters.values()
        own = {p.name: p.default for p in own if p.kind is p.KEYWORD_ONLY and "Tensor" not in str(p.annotation)}
        assert {key: parameter.default for key, parameter in parameters.items()} == own
        assert all(type(parameter.default) in parameter.kinds for parameter in parameters.values())


def test_a_variant_left_out_is_the_released_one_and_defaults_are_filled_in():
    objective = objectives.make("mat")
    assert objective.variant == "released"
    assert objective.params == {"margin": pytest.approx(0.15 * math.pi)}
    assert (
        repr(objectives.make("dcl", temperature=0.01))
        == "dcl[released](temperature=0.01, negatives=cross, reduction=mean)"
    )
    assert objectives.make("oar", base="met", margin=1).params == {
        "margin": 1.0,
        "base": "met",
        "base_variant": None,
        "lam": 1.0,
        "reduction": "mean",
    }


@pytest.mark.parametrize(
    ("name", "numpys", "plain"),
    [
        ("arccon", {"angle": np.radians(10)}, {"angle": math.radians(10)}),
        ("arccon", {"temperature": np.float32(0.5)}, {"temperature": 0.5}),
        ("arccon", {"temperature": np.longdouble(0.5)}, {"temperature": 0.5}),
        ("arccon", {"temperature": np.array(0.5)}, {"temperature": 0.5}),
        ("met", {"margin": np.int64(1)}, {"margin": 1.0}),
        ("infonce_mixup", {"mixed": np.int32(2)}, {"mixed": 2}),
        ("macl", {"reweight": np.bool_(False), "negatives": np.str_("both")}, {"reweight": False, "negatives": "both"}),
    ],
)
def test_numbers_of_numpy_are_pythons_own(name, numpys, plain):
    params = objectives.make(name, **numpys).params
    assert {key: params[key] for key in plain} == plain
    assert json.dumps(params) == json.dumps(objectives.make(name, **plain).params)
    assert {type(value) for value in params.values()} <= {float, int, bool, str, type(None)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(name="infonc"), "unknown objective 'infonc'. Did you mean infonce"),
        (dict(name="mpt", variant="releasd"), "unknown variant of mpt 'releasd'. Did you mean released"),
        (dict(name="dcl", temprature=0.1), "unknown parameter of dcl 'temprature'. Did you mean temperature"),
        (dict(name="dcl", temperature="warm"), "dcl: temperature must be a number, not 'warm'"),
        (dict(name="dcl", temperature=None), "dcl: temperature must be a number, not None"),
        (dict(name="paradigm", margin="0.3"), "paradigm: margin must be a number or null, not '0.3'"),
        (dict(name="dcl", temperature=0), "dcl: temperature must be finite and > 0, not 0"),
        (dict(name="mhe", lam=-1), "mhe: lam must be finite and >= 0, not -1"),
        (dict(name="met", margin=math.nan), "met: margin must be finite and >= -inf, not nan"),
        (dict(name="paradigm", power=0.5), "paradigm: power must be a whole number or null, not 0.5"),
        (dict(name="oar", base="oar"), "oar: base must be another objective"),
        (dict(name="macl", negatives="cros"), "Did you mean cross"),
        (dict(name="macl", reweight=1), "macl: reweight must be true or false, not 1"),
        (dict(name="infonce_mixup", mixed=1.5), "infonce_mixup: mixed must be a whole number, not 1.5"),
        (dict(name="dcl", temperature=np.bool_(True)), "dcl: temperature must be a number, not True"),
        (dict(name="dcl", temperature=np.str_("0.1")), "dcl: temperature must be a number, not '0.1'"),
        (dict(name="dcl", temperature=np.ones(1)), "dcl: temperature must be a number, not array"),
        (dict(name="macl", reweight=np.int64(1)), "macl: reweight must be true or false, not 1"),
        (dict(name="oar", base="infonc"), "unknown objective 'infonc'. Did you mean infonce"),
        (dict(name="oar", base="mpt", temperature=0.1), "unknown parameter of oar 'temperature'"),
        (dict(name="oar", base="mpt", base_variant="releasd"), "unknown variant of mpt 'releasd' in oar: base_variant"),
    ],
)
def test_wrong_names_and_types_are_refused(arguments, message):
    with pytest.raises(UserError, match=message.replace("(", r"\(")):
        objectives.make(**arguments)


def test_views_of_different_shape_or_a_single_row_are_refused():
    objective = objectives.make("infonce")
    for shapes in (((3, 4), (3, 5)), ((1, 4), (1, 4)), ((4,), (4,))):
        with pytest.raises(ValueError, match="two views"):
            objective(*(torch.ones(shape) for shape in shapes))
