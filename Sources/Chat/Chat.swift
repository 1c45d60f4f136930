/// The domain: ids, messages, threads, subscriptions, memberships. Knows no JSON, no SQL, no socket, no clock.
