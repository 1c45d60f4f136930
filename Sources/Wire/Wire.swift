/// Operations, events, error and close codes: the only room that knows the JSON of clients.
///
/// Pattern: every operation is defined once (`OperationTable`): its name, HTTP route, doors, callers, fields and the
/// function that decodes it out of `Fields`. Both doors fill `Fields` in their own way and so share every check.
/// Threads: a `RequestDecoder` belongs to one thread; all else is values. Lifecycle: none.
/// Never imports: sockets, the store, Foundation; reads no clock.
