"""From records to a published generation: what stays of the index before, verification, and the manifest of a run."""
