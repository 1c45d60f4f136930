/// HTTP/1.1 as a strict machine: request heads and bodies in, response heads out.
