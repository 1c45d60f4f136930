/// Operations, events, error and close codes: the only room that knows the JSON of clients.
