"""A pretended GPU: tensors that call themselves cuda:0, compute on the CPU, and tell what would make the host wait.

    with pretended() as gpu:
        model.to("cuda"); loss = model(x.to("cuda", non_blocking=True)).sum(); loss.backward()
        gpu.waits     # ["item", ...]: what had to wait for the device, in order

An operation on tensors of both devices is refused as torch refuses it. A wait is whatever cannot return before the
device has done all that was queued: reading a number (``item``, ``tolist``, ``bool``), a copy to the CPU, a copy to
the device that does not say ``non_blocking``, an index from the CPU, and results whose shape depends on values
(``nonzero``, boolean indices). Autocast and random numbers are the CPU's. There is one device and one stream; memory,
kernels' rounding and asynchronous errors are not pretended.
"""

import os
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest.mock import patch

import torch
import torch._dynamo  # imported later, it would look through what is patched
from torch import Tensor
from torch.autograd.function import BackwardCFunction
from torch.nn.utils import clip_grad
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_flatten, tree_map_only

CUDA = torch.device("cuda", 0)
READS = {"item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__format__", "is_nonzero",
         "equal", "allclose", "__contains__"}  # fmt: skip
OF_VALUES = {"nonzero", "masked_select", "_unique2", "unique_dim", "unique_consecutive", "bincount", "histc"}
ANYWHERE = {"copy_", "set_", "detach", "resize_"}  # what takes tensors of two devices


class Gpu:
    """What happened on the device while it was pretended."""

    def __init__(self):
        self.waits: list[str] = []
        self.places: list[str] = []  # where in the code


current: list[Gpu] = []


def wait(why: str) -> None:
    """Note a wait, with the nearest lines outside torch and this file."""
    if current:
        lines = [
            f"{Path(frame.filename).name}:{frame.lineno}"
            for frame in traceback.extract_stack()
            if frame.filename != __file__ and not frame.filename.startswith(os.path.dirname(torch.__file__))
        ]
        current[-1].waits.append(why)
        current[-1].places.append(" < ".join(reversed(lines[-3:])))


class OnGpu(Tensor):
    """A tensor of the pretended device around one of the CPU."""

    @staticmethod
    def __new__(cls, inner: Tensor) -> "OnGpu":
        how = {"dtype": inner.dtype, "device": "cpu"}
        if inner.layout == torch.strided:  # of sparse ones the shape is enough
            how |= {"strides": inner.stride(), "storage_offset": inner.storage_offset()}
        made = Tensor._make_wrapper_subclass(cls, inner.size(), **how)
        made.inner = inner
        return made

    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(parts, *_):
        return OnGpu(parts["inner"])

    def __reduce_ex__(self, protocol):
        return self.inner.__reduce_ex__(protocol)  # saved as what it holds

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return handled(function, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function.name().removeprefix("aten::").split(".")[0]
        values = [value for value in tree_flatten((args, kwargs))[0] if isinstance(value, Tensor)]
        strangers = [value for value in values if not isinstance(value, OnGpu) and value.ndim]
        if name in ("index", "index_put", "index_put_", "_index_put_impl_"):
            indices = [part for part in args[1] if part is not None]
            if any(part.dtype == torch.bool for part in indices):
                wait("a boolean index")
            if any(part.ndim and not isinstance(part, OnGpu) for part in indices):
                wait("an index from the CPU")
            strangers = [value for value in strangers if not any(value is part for part in indices)]
        if strangers and name not in ANYWHERE:
            raise RuntimeError(f"aten::{name}: expected all tensors on one device, found cuda:0 and cpu")
        if name in OF_VALUES or name == "_local_scalar_dense":
            wait({"_local_scalar_dense": "item"}.get(name, name))
        inner = tree_map_only(OnGpu, lambda value: value.inner, (args, kwargs))
        found = tree_map_only(Tensor, OnGpu, function(*inner[0], **inner[1]))
        return return_and_correct_aliasing(function, args, kwargs, found)


class Everywhere(TorchFunctionMode):
    """Factories and moves name a device; plain tensors have no __torch_function__ of their own."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        return handled(function, args, kwargs or {})


def handled(function, args, kwargs):
    """A call of torch as it would be if there were the device."""
    name = getattr(function, "__name__", "")
    first = args[0] if args else None
    with torch._C.DisableTorchFunction():
        if isinstance(first, OnGpu):
            if name == "__get__" and (owner := getattr(function, "__self__", None)) is not None:
                told = {"device": CUDA, "is_cuda": True, "is_cpu": False}
                if owner.__name__ in told:
                    return told[owner.__name__]
            if name == "get_device":
                return 0
            if name in ("storage", "untyped_storage", "data_ptr"):
                return getattr(first.inner, name)()
            if name == "numpy":
                raise TypeError("can't convert cuda:0 device type tensor to numpy: use Tensor.cpu() first")
            if name in READS:
                wait(name)
                return getattr(first.inner, name)(*(unwrapped(value) for value in args[1:]), **kwargs)
        if name in ("to", "cpu", "cuda") and isinstance(first, Tensor):
            return moved(name, first, args[1:], kwargs)
        if name in ("sparse_csr_tensor", "one_hot") and isinstance(first, OnGpu):  # make plain tensors in C++
            return OnGpu(function(*unwrapped_all(args), **kwargs))
        device = kwargs.get("device")
        if device is not None and torch.device(device).type == "cuda":
            if name in ("tensor", "as_tensor", "from_numpy"):
                wait("a copy to the device")
            made = function(*unwrapped_all(args), **unwrapped_all({**kwargs, "device": "cpu"}))
            return tree_map_only(Tensor, OnGpu, made)
    return plain(function, args, kwargs)


def plain(function, args, kwargs):
    with torch._C.DisableTorchFunctionSubclass():
        return function(*args, **kwargs)


def unwrapped(value):
    return value.inner if isinstance(value, OnGpu) else value


def unwrapped_all(values):
    return tree_map_only(OnGpu, lambda value: value.inner, values)


def moved(name: str, tensor: Tensor, args: tuple, kwargs: dict) -> Tensor:
    """``to``, ``cpu`` and ``cuda``."""
    kwargs = {key: value for key, value in kwargs.items() if key != "copy"}
    if args and isinstance(args[0], Tensor):
        args = (CUDA if isinstance(args[0], OnGpu) else torch.device("cpu"), args[0].dtype, *args[1:])
    if name == "to":
        device, dtype, non_blocking, layout = torch._C._nn._parse_to(*args, **kwargs)
    else:
        device, dtype, layout = (torch.device("cpu") if name == "cpu" else CUDA), None, None
        non_blocking = kwargs.get("non_blocking", False)
    there = isinstance(tensor, OnGpu)
    goal = there if device is None else device.type == "cuda"
    how = {"dtype": dtype or tensor.dtype} | ({"memory_format": layout} if layout is not None else {})
    changes = dtype not in (None, tensor.dtype) or layout is not None
    if there != goal:
        if not goal or (tensor.ndim and not non_blocking):
            wait(f"a copy to the {'device' if goal else 'CPU'}")
        tensor = Moved.apply(tensor, goal)
    return plain(Tensor.to, (tensor,), how) if changes else tensor


class Moved(torch.autograd.Function):
    """A copy between the devices."""

    @staticmethod
    def forward(context, tensor, goal):
        return OnGpu(tensor.detach().clone()) if goal else tensor.inner.detach().clone()

    @staticmethod
    def backward(context, gradient):
        raise NotImplementedError("gradients through a move between devices")


by_device = clip_grad._group_tensors_by_device_and_dtype


def grouped(tensors, *args, **kwargs):
    """torch's own function for this is compiled and sees the devices as they are."""
    found = by_device(tensors, *args, **kwargs)
    on_gpu = any(isinstance(tensor, OnGpu) for tensor in tensors[0])
    return {(CUDA, dtype): value for (_, dtype), value in found.items()} if on_gpu else found


apply_backward = BackwardCFunction.apply


def applied(self, *gradients):
    """A backward in Python, which torch's engine runs with all that is done here switched off."""
    with torch._C._EnableTorchFunction(), Everywhere():
        return apply_backward(self, *gradients)


@contextmanager
def pretended() -> Iterator[Gpu]:
    """While it is open, torch.cuda says that there is one GPU, and it computes on the CPU."""
    gpu = Gpu()
    nothing = lambda *_, **__: None  # noqa: E731
    cuda = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0, "set_device": nothing,
        "get_device_name": lambda *_: "a pretended GPU", "get_device_capability": lambda *_: (9, 0),
        "synchronize": nothing, "empty_cache": nothing, "manual_seed": nothing, "manual_seed_all": nothing,
        "is_bf16_supported": lambda *_, **__: True, "_lazy_init": nothing, "is_initialized": lambda: True,
        "get_rng_state": lambda *_: torch.get_rng_state(),
        "set_rng_state": lambda state, *_: torch.set_rng_state(state),
    }  # fmt: skip
    autocast = torch.autocast

    def on_cpu(device_type, *args, **kwargs):
        return autocast("cpu" if device_type == "cuda" else device_type, *args, **kwargs)

    with ExitStack() as stack:
        for name, value in cuda.items():
            stack.enter_context(patch.object(torch.cuda, name, value))
        stack.enter_context(patch.object(torch, "autocast", on_cpu))
        stack.enter_context(patch.object(torch, "inference_mode", torch.no_grad))  # wrapped tensors know no other
        stack.enter_context(patch.object(BackwardCFunction, "apply", applied))
        for module in (clip_grad, optimizer):
            stack.enter_context(patch.object(module, "_group_tensors_by_device_and_dtype", grouped))
        for name in ("_accelerator_graph_capture_health_check", "_cuda_graph_capture_health_check"):
            if hasattr(torch.optim.Optimizer, name):  # asks the driver, and which of them depends on torch's version
                stack.enter_context(patch.object(torch.optim.Optimizer, name, nothing))
        stack.enter_context(Everywhere())
        current.append(gpu)
        try:
            yield gpu
        finally:
            current.remove(gpu)
