"""The catalog on a server of PostgreSQL: the same tables and queries, for several machines."""
