"""The resident service: a parent that imports everything once, and a child forked from it for each
session."""
