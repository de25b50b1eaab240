"""``python -m clrepro.cli`` and ``torchrun -m clrepro.cli``."""

from clrepro.cli import main

main()
