"""Frames and deflated messages, octet by octet, for the seeds of the corpora."""

import struct

HELLO = bytes.fromhex("f248cdc9c90700")  # RFC 7692 §7.2.3.1


def frame(first: int, payload: bytes = b"", key: bytes | None = b"\x37\xfa\x21\x3d", length: bytes | None = None) -> bytes:
    """`first` is the first octet as it stands on the wire; `length` replaces the shortest form."""
    mask = 0 if key is None else 0x80
    size = len(payload)
    if length is None:
        if size <= 125:
            length = bytes([size])
        elif size <= 0xFFFF:
            length = struct.pack("!BH", 126, size)
        else:
            length = struct.pack("!BQ", 127, size)
    head = bytes([first, length[0] | mask]) + length[1:]
    if key is None:
        return head + payload
    return head + key + bytes(octet ^ key[place % 4] for place, octet in enumerate(payload))


class Bits:
    """Deflate's bits, lowest first (RFC 1951 §3.1.1), written by hand so that no zlib decides what is in the corpus."""

    def __init__(self) -> None:
        self.bits: list[int] = []

    def number(self, value: int, count: int) -> "Bits":
        self.bits += [value >> place & 1 for place in range(count)]
        return self

    def code(self, value: int, count: int) -> "Bits":
        self.bits += [value >> place & 1 for place in reversed(range(count))]
        return self

    def octets(self) -> bytes:
        padded = self.bits + [0] * (-len(self.bits) % 8)
        return bytes(sum(bit << place for place, bit in enumerate(padded[at : at + 8])) for at in range(0, len(padded), 8))


def zeros(count: int) -> bytes:
    """A message of `count` zeros: one literal, then copies of 258 from a distance of 1, with the fixed codes."""
    bits = Bits().number(0, 1).number(1, 2).code(0x30, 8)
    left = count - 1
    while left >= 258:
        bits.code(0b11000101, 8).code(0, 5)
        left -= 258
    for _ in range(left):
        bits.code(0x30, 8)
    # The end of the block, and the first three bits of the empty stored block whose rest the sender takes off.
    return bits.code(0, 7).number(0, 3).octets()


def stored(payload: bytes) -> bytes:
    return b"\x00" + struct.pack("<HH", len(payload), len(payload) ^ 0xFFFF) + payload + b"\x00"
