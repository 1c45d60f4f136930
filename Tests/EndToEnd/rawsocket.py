"""A client that can break every rule: bytes on a socket, frames as they come."""

import base64
import os
import socket
import struct

from gateway import Gateway

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(opcode: int, payload: bytes = b"", fin: bool = True, reserved: int = 0, masked: bool = True) -> bytes:
    """A client frame; `reserved` is the three RSV bits as they stand in the first octet (0x40, 0x20, 0x10)."""
    first = (0x80 if fin else 0) | reserved | opcode
    flag = 0x80 if masked else 0
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", first, flag | size)
    elif size < 65536:
        head = struct.pack("!BBH", first, flag | 126, size)
    else:
        head = struct.pack("!BBQ", first, flag | 127, size)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(octet ^ mask[i % 4] for i, octet in enumerate(payload))


def upgrade_request(gateway: Gateway, path: str = "/v1/live", *lines: str, key: str | None = None) -> bytes:
    key = key or base64.b64encode(os.urandom(16)).decode()
    head = [
        f"GET {path} HTTP/1.1",
        f"Host: {gateway.host}:{gateway.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        *lines,
    ]
    return ("\r\n".join(head) + "\r\n\r\n").encode()


class RawSocket:
    def __init__(self, gateway: Gateway, receive_buffer: int | None = None) -> None:
        stream = socket.socket()
        if receive_buffer:
            # Before connecting: the window that the peer sees is made of it.
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        stream.settimeout(10)
        stream.connect((gateway.host, gateway.port))
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = gateway.client_context()
        self.stream = context.wrap_socket(stream, server_hostname=gateway.host) if context else stream
        self.buffer = b""
        self.is_ended = False

    @staticmethod
    def upgraded(
        gateway: Gateway, path: str = "/v1/live", *lines: str, receive_buffer: int | None = None
    ) -> "RawSocket":
        raw = RawSocket(gateway, receive_buffer)
        raw.send(upgrade_request(gateway, path, *lines))
        head = raw.head()
        assert head.startswith(b"HTTP/1.1 101 "), head
        return raw

    def __enter__(self) -> "RawSocket":
        return self

    def __exit__(self, *_) -> None:
        self.stream.close()

    def send(self, data: bytes) -> None:
        self.stream.sendall(data)

    def _fill(self) -> bool:
        if self.is_ended:
            return False
        try:
            received = self.stream.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            received = b""
        self.buffer += received
        self.is_ended = not received
        return bool(received)

    def take(self, count: int) -> bytes:
        while len(self.buffer) < count:
            if not self._fill():
                raise EOFError(f"ended with {self.buffer!r}")
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def head(self) -> bytes:
        """A response head with its empty line."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._fill():
                raise EOFError(f"ended with {self.buffer!r}")
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        return head + b"\r\n\r\n"

    def response(self) -> tuple[int, bytes, bytes]:
        """Status, head and body of one response."""
        head = self.head()
        size = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
        return int(head.split(b" ", 2)[1]), head, self.take(size)

    def frame(self) -> tuple[int, bytes]:
        """Opcode and payload of the next frame; the server's frames are whole and unmasked."""
        first, second = self.take(2)
        assert second & 0x80 == 0, "the server masked a frame (RFC 6455 §5.1)"
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self.take(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self.take(8))
        return first & 0x0F, self.take(size)

    def close_code(self) -> int | None:
        """Reads on to the close frame; its code, None when there was none. Codes that must not stand on the wire
        fail here, in every test that closes (C013)."""
        while True:
            try:
                opcode, payload = self.frame()
            except EOFError:
                return None
            if opcode == CLOSE:
                code = struct.unpack("!H", payload[:2])[0] if payload else None
                assert code not in (1005, 1006, 1015), f"{code} on the wire"
                payload[2:].decode()
                return code

    def is_closed(self) -> bool:
        """Whether the stream ends, reading what is left."""
        while self._fill():
            pass
        return self.is_ended
