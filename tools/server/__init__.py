"""The toolset of the server itself."""
