"""Callers over HTTP: who they are, what they may do, and how much at a time."""
