"""Sentence encoders: `plan` says how their runs are planned (without torch), `work` how they are done."""
