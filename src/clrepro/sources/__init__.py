"""Where data come from: url, sha256, mirror, fetching, unpacking."""
