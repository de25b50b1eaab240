"""A modality of its own: five points in the plane, a linear map as encoder, one evaluation, and a paper about them."""
