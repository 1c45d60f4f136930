/// libcrypto behind values: hashes, HMAC, random bytes, constant-time comparison.
