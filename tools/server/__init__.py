"""What the server itself offers."""
