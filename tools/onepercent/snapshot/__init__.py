"""The sections of the snapshot."""
