"""Batches of notes: added or changed, each item with its outcome."""
