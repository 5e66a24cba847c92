"""How long a command takes from the key to the prompt."""
