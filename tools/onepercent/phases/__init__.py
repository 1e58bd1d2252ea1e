"""The parts that the tools of the two phases share: counting calls, dry runs, reading a yes."""
