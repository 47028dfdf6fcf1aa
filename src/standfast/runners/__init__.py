"""How each client is called and read, pure: a module a client."""
