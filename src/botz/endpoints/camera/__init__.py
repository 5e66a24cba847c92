"""Images of a soccer match over TCP."""
