"""The catalog on a PostgreSQL server, for several machines: the same tables and queries."""
