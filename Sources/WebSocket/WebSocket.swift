/// RFC 6455 and RFC 7692, pure, for both roles.
