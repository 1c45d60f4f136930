/// Shards, routing, operation handlers, authentication, the HTTP door.
