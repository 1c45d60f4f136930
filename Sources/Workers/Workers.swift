/// OS threads with mailboxes, wake-ups, the one lock type.
