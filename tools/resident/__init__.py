"""The resident service: a parent that imported everything once, and a child forked from it for each
session."""
