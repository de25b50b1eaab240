"""What every claim of the tests says of itself."""

COMMON = {"id": "one", "statement": "A statement.", "quote": "We state it.", "place": "table 1"}
