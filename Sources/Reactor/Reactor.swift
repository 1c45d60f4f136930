/// epoll loops, sockets, listeners, TLS sessions, signals.
