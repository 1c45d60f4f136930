/// simdjson behind a small reader, and a byte writer.
