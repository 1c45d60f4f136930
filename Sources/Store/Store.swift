/// The store as one protocol, and its SQLite engine.
