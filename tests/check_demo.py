"""After `make demo`: every cell of nie2023's table 1 is filled, and training visibly works. Run by .ci/run."""

import sys
from pathlib import Path

import pandas as pd

TRAINED = ["L_cl", "L_a&u", "L_dcl", "L_dcl+", "L_mpt", "L_met", "L_mat"]

table = pd.read_csv(Path("results/demo/tables/nie2023/table_1.csv"))
holes = table[table["ours"].isna()]
if len(holes):
    sys.exit(f"the demo left holes in nie2023 table 1:\n{holes[['row', 'column', 'metric', 'note']]}")
sts = table[table["metric"] == "sts"].pivot(index="row", columns="column", values="ours")
gain = sts.loc[TRAINED] - sts.loc["Pretrained [as trained]"]
print("STS gain over the untrained encoder with the same pooling:")
print(gain.round(2).to_string())
better = int((gain.mean(axis=1) > 0).sum())
print(f"{better} of {len(TRAINED)} objectives beat it on the average of the encoders")
if better < 5:
    sys.exit("fewer than five objectives improve on the untrained encoder")
