"""Callers over HTTP: who they are, what they may, how much at a time."""
