"""The network: what other programs connect to, in processes of their own."""
