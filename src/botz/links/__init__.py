"""How programs outside reach a run: teams, viewers and cameras, over sockets; and the clients for them."""
