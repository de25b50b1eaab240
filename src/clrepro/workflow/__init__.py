"""What the workflow's jobs need, whatever they compute: start, locks, placement, records, fingerprints."""
