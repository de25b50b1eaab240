"""The gradient x-ray: any objective's gradient as dissipation, weight and ratio (Li et al. 2024, equation 4)."""

from clrepro.xray._decompose import Components, decompose

__all__ = ["Components", "decompose"]
