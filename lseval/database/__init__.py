"""Django's PostgreSQL backend over the server that the program brings along."""
