"""How a GPU computes in fp32: in IEEE arithmetic, or its products in TF32, which keeps 10 of 23 bits of a factor.

PyTorch's own default is IEEE for products of matrices and TF32 for convolutions; which one a library was built with
must not decide a number, so both are always set.
"""

from clrepro.settings import Common


def choose_arithmetic(config: Common) -> None:
    """Set what ``float32`` of the configuration says, in this process; a CPU knows no TF32."""
    if config.device == "cpu":
        return
    import torch

    torch.backends.cuda.matmul.fp32_precision = config.float32.matmul
    torch.backends.cudnn.conv.fp32_precision = config.float32.convolution
