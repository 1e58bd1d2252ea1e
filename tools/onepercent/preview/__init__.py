"""The two-phase commit: previewed, confirmed, applied as shown."""
