"""What the tools of the two phases share: counting a call, trying actions dry, reading a yes."""
