/// Committed events between nodes; the in-process bus.
