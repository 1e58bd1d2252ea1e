"""The resident service and who may use it."""
