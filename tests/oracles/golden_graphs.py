"""Results of the released graph programs and the small inputs behind them, to compare values and gradients with.

Classification and transfer to molecules of Shen-Lab/GraphCL at b4d7501, with the losses of GraphCL and MACL; float64,
to the digits given. Parameters follow ``weights`` and ``biases`` of tests/oracles/graphs.py; the toy graphs A to D are
``toy_views`` there. The comments name the section of the facts sheet on the graph experiments.
"""

# 6.1: embeddings of view 1 in evaluation mode, before the head, A to D
GRAPH_EMBEDDINGS = [
    [1.392599, 0.707595, 0.103104, 2.307159, 1.842553, 0, 2.784488, 1.076032, 0.140310, 0.165649, 1.948511, 0],
    [0.707981, 1.104226, 0, 1.273383, 0.594510, 0.064524, 1.100307, 0.722791, 0.163078, 0.044756, 1.038072, 0],
    [1.231824, 1.915510, 0, 2.244174, 1.619448, 0.248210, 1.989586, 1.539741, 1.076362, 0, 1.756638, 0],
    [1.060424, 0.064823, 0, 1.694346, 1.969210, 0, 2.551161, 0.815926, 0.206219, 0, 1.543355, 0],
]

# 6.1: training mode, view 1 and then view 2: the projection of A's view 1, the first BatchNorm's statistics after both
FIRST_PROJECTION = [
    *(2.688498, -3.312492, 1.573553, 1.000105, -2.949770, 3.106677),
    *(-0.986794, -1.783401, 3.167573, -2.623411, 0.355346, 2.360323),
]
RUNNING_MEAN = [0.034187, 0.020781, 0.001371, 0.058401]
RUNNING_VARIANCE = [0.816247, 0.816094, 0.810103, 0.825257]

# 6.1: cosines of the projections in training mode, rows of view 1
COSINES = [
    [0.047361, 0.949699, 0.961229, 0.998262],
    [-0.850186, 0.180100, 0.218425, 0.529386],
    [0.865694, 0.775238, 0.750151, 0.488772],
    [-0.384336, 0.724635, 0.750936, 0.927326],
]

# 6.2: (loss, parameters, value, norm of the gradient of the convolutions' linear layers, of the head's)
GRAPH_LOSSES = [
    ("graphcl", {"temperature": 0.2}, 2.140771, 41.083292, 6.827656),
    ("graphcl", {"temperature": 0.1}, 3.549718, 101.433129, 13.374860),
    ("macl", {"base": 0.2, "alpha": 0.5, "threshold": 0.0}, 2.570757, 31.017301, 5.521666),
    ("macl", {"base": 0.1, "alpha": 0.5, "threshold": 0.0}, 3.716596, 76.992354, 10.894507),
    ("macl", {"base": 0.2, "alpha": 0.5, "threshold": 0.0, "reweight": False}, 2.183006, 26.467213, 5.841506),
]
ALIGNMENT = 0.476235
ADAPTED_TEMPERATURES = {0.2: 0.247623, 0.1: 0.123812}
IDENTICAL_ORTHOGONAL_LOSS = -9.306853  # GraphCL's loss of three identical orthogonal pairs at T 0.1

# 6.3: the 12-ring with chords as undirected pairs, and what seeds of NumPy's legacy generator keep
RING_WITH_CHORDS = (*((node, (node + 1) % 12) for node in range(12)), (0, 6), (3, 9))
RING_EDGES = 39  # directed, with the released self loops
RING_DROPPED = {0: (6,)}
RING_SUBGRAPH = {0: (4, 5, 6), 1: (4, 5, 6)}
RING_EDGES_KEPT = 36
MOLECULE_DROP = {0: (0, 1, 2, 3, 4, 5, 7, 8, 9, 10), 1: (0, 1, 4, 5, 6, 7, 8, 9, 10, 11)}
MOLECULE_SUBGRAPH = {0: (5, 4, 6), 1: (5, 6, 4)}

# 6.4: molecules as (atom indices, undirected bonds (a, b, type)), the atom that view 2 leaves out, embeddings
MOLECULES = [
    ((5, 5, 7), ((0, 1, 0), (1, 2, 0))),
    ((5, 5, 5, 5, 5, 5), ((0, 1, 3), (1, 2, 3), (2, 3, 3), (3, 4, 3), (4, 5, 3), (5, 0, 3))),
    ((5, 6), ((0, 1, 2),)),
    ((5, 5, 7, 6), ((0, 1, 0), (1, 2, 1), (1, 3, 0))),
]
MOLECULES_LEFT_OUT = [0, 3, None, 3]
MOLECULE_EMBEDDINGS = [
    [1.739233, -1.095283, -0.319732, 1.306795],
    [1.151945, -1.043521, 0.198581, 0.564354],
    [0.467946, -0.245186, -0.181243, 0.272155],
    [0.396038, 0.422569, -0.999154, 0.694308],
]
MOLECULE_LOSS = -6.436096  # GraphCL's at T 0.1, training mode
MOLECULE_GRADIENT = 11.10116  # norm over the encoder: tables, linear layers, BatchNorm; not the head
MOLECULE_ALIGNMENT = 0.975164
MOLECULE_TEMPERATURE = 0.148758  # base 0.1, alpha 0.5, threshold 0

# 6.5: fine-tuning, split, SVM
LABELS = [[1, -1, 0], [-1, -1, 1], [0, 1, 0], [1, 1, 0], [-1, 0, 1]]
LOGITS = [[0.3, -0.2, 1.0], [-0.4, 0.1, 0.2], [0.9, 0.8, -0.5], [-0.6, -0.1, 0.0], [0.2, 0.5, -1.0]]
CROSS_ENTROPY = 0.727243
TASK_AUCS = [0.5, 0.75, None]
MEAN_AUC = 0.625
SCAFFOLD_SETS = [[0, 3, 4, 7], [1, 2], [5], [6], [8, 9]]
SPLIT = ([0, 3, 4, 7, 8, 9, 1, 2], [6], [5])
SVM_SCORES = {0: (0.9167, 0.95), 1: (0.9667, 0.95)}  # seed: ("val", test), scikit-learn 1.9.1, gamma "scale"
