"""Klipper documentation: search, reading and sync of a local git checkout."""
