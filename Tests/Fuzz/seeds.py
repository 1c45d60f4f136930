#!/usr/bin/env python3
"""Writes the hand-made part of the fuzzers' corpora: a file for each row below, its name saying what it is.

The first bytes of an input are the choices that its target takes (see `run` of each target in Tests/Fuzz/Targets); the
rest is what the machine is fed. Files named `found-…` came from the fuzzers and are left alone. With --check nothing is
written, and a file that is missing or differs is an error.
"""

import pathlib
import struct
import sys

from octets import HELLO, frame, stored, zeros

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
SERVER, CLIENT, DEFLATE, TAKEOVER = 0, 1, 2, 4
LIMIT_64, LIMIT_1000, LIMIT_16384, LIMIT_65536 = 0, 8, 16, 24
FRAGMENTS_2, FRAGMENTS_16, FRAGMENTS_256, FRAGMENTS_16384 = 0, 32, 64, 96
ROUND_TRIP = 128
FAMILY = "κόσμε 👩‍👩‍👧".encode()


def frames() -> dict[str, bytes]:
    text = frame(0x81, b"Hello")
    rows = {
        "hello": (SERVER, 0, text),
        "hello-from-a-server": (CLIENT, 2, frame(0x81, b"Hello", None)),
        "binary-of-16-bit-length": (LIMIT_1000, 3, frame(0x82, bytes(range(256)))),
        "binary-of-64-bit-length": (LIMIT_65536 | CLIENT, 7, frame(0x82, b"\x01" * 40, None, struct.pack("!BQ", 127, 65536))),
        "ping-inside-a-fragmented-text": (FRAGMENTS_16, 5, frame(0x01, b"Hel") + frame(0x89, b"?") + frame(0x80, b"lo")),
        "pong-and-close": (SERVER, 1, frame(0x8A, b"!") + frame(0x88, b"\x03\xe8bye")),
        "close-without-a-code": (SERVER, 0, frame(0x88) + text),
        "close-inside-a-fragmented-text": (FRAGMENTS_16, 0, frame(0x01, b"a" * 60) + frame(0x88, b"\x03\xe9")),
        "C001-inflates-to-the-limit": (DEFLATE, 2, frame(0xC2, zeros(64))),
        "C001-one-above-the-limit": (DEFLATE, 2, frame(0xC2, zeros(65))),
        "C001-two-above-the-limit": (DEFLATE, 3, frame(0xC2, zeros(66))),
        "C001-three-above-the-limit": (DEFLATE, 1, frame(0xC2, zeros(67))),
        "C002-text-inside-a-fragmented-text": (FRAGMENTS_16, 2, frame(0x01, b'{"a":') + frame(0x81, b"1}")),
        "C002-continuation-without-a-start": (SERVER, 2, frame(0x80, b"1}")),
        "C003-fragmented-ping": (SERVER, 2, frame(0x09, b"0123456789")),
        "C003-ping-of-126": (LIMIT_1000, 2, frame(0x89, b"a" * 126)),
        "C003-close-of-126": (LIMIT_1000, 2, frame(0x88, b"\x03\xe8" + b"a" * 124)),
        "C003-opcode-3": (SERVER, 2, frame(0x83)),
        "C003-opcode-11": (SERVER, 1, frame(0x8B)),
        "C003-rsv2": (SERVER, 2, frame(0xA1, b"a")),
        "C003-rsv1-without-deflate": (SERVER, 2, frame(0xC1, b"a")),
        "C003-unmasked": (SERVER, 2, frame(0x81, b"a", None)),
        "C003-masked-by-a-server": (CLIENT, 2, text),
        "C003-compressed-ping": (DEFLATE, 2, frame(0xC9, b"a")),
        "C003-compressed-continuation": (DEFLATE | FRAGMENTS_16, 2, frame(0x41, HELLO[:3]) + frame(0xC0, HELLO[3:])),
        "length-in-16-bits-not-minimal": (SERVER, 2, frame(0x81, b"a", length=struct.pack("!BH", 126, 1))),
        "length-in-64-bits-not-minimal": (SERVER, 1, frame(0x81, b"a", length=struct.pack("!BQ", 127, 0xFFFF))),
        "length-with-its-top-bit": (SERVER, 1, frame(0x81, b"a", length=struct.pack("!BQ", 127, 1 << 63))),
        "length-far-above-the-limit": (LIMIT_65536, 0, frame(0x81, b"a", length=struct.pack("!BQ", 127, 1 << 62))),
        "C006-bomb": (DEFLATE | LIMIT_65536, 6, frame(0xC2, zeros(1 << 17))),
        "C006-bomb-in-fragments": (
            DEFLATE | LIMIT_16384 | FRAGMENTS_256, 6,
            frame(0x42, zeros(1 << 16)[:100]) + frame(0x00, zeros(1 << 16)[100:200]) + frame(0x80, zeros(1 << 16)[200:])),
        "C008-two-messages-with-a-context": (DEFLATE | TAKEOVER, 2, frame(0xC1, HELLO) + frame(0xC1, bytes.fromhex("f200110000"))),
        "C008-the-second-needs-a-context-that-is-gone": (DEFLATE, 2, frame(0xC1, HELLO) + frame(0xC1, bytes.fromhex("f200110000"))),
        "deflate-damaged": (DEFLATE, 2, frame(0xC1, b"\xff\xff\xff")),
        "deflate-text-not-utf8": (DEFLATE, 2, frame(0xC1, stored(b"\xed\xa0\x80"))),
        "deflate-fragmented-hello": (DEFLATE | FRAGMENTS_16, 1, frame(0x41, HELLO[:3]) + frame(0x80, HELLO[3:])),
        "C013-close-of-one-byte": (SERVER, 2, frame(0x88, b"\x03")),
        "C013-close-with-a-broken-reason": (SERVER, 2, frame(0x88, b"\x03\xe8\xc3")),
        "C025-fragments-above-the-limit": (FRAGMENTS_256, 3, frame(0x01, b"a" * 60) + frame(0x00, b"a" * 4) + frame(0x00, b"a")),
        "C025-empty-continuations": (FRAGMENTS_2, 2, frame(0x02) + frame(0x00) + frame(0x00)),
        "C021-text-cut-off": (SERVER, 2, frame(0x81, FAMILY[:-1])),
        "C021-text-in-fragments": (FRAGMENTS_16, 1, frame(0x01, FAMILY[:3]) + frame(0x00, FAMILY[3:14]) + frame(0x80, FAMILY[14:])),
        "round-trip-text": (ROUND_TRIP | FRAGMENTS_16, 2, FAMILY),
        "round-trip-compressed": (ROUND_TRIP | CLIENT | DEFLATE | FRAGMENTS_16 | LIMIT_1000, 3, b"abcabcabc" * 50),
        "round-trip-above-the-limit": (ROUND_TRIP | DEFLATE, 0, b"abc" * 30),
        "round-trip-of-nothing": (ROUND_TRIP | DEFLATE, 0, b""),
    }  # fmt: skip
    for code in (1000, 1003, 1007, 1014, 3000, 4999):
        rows[f"C013-close-{code}"] = (SERVER, 1, frame(0x88, struct.pack("!H", code) + "Tschüß".encode()))
    for code in (999, 1004, 1005, 1006, 1015, 1016, 2999, 5000):
        rows[f"C013-close-{code}-may-not-be-sent"] = (SERVER, 2, frame(0x88, struct.pack("!H", code)))
    for name, octets in {"surrogate": b"\xed\xa0\x80", "overlong": b"\xc0\xaf", "above-unicode": b"\xf4\x90\x80\x80"}.items():
        rows[f"C021-{name}"] = (FRAGMENTS_16, 1, frame(0x01, FAMILY + octets) + frame(0x80, b"a"))
    return {name: bytes([choice, cutting]) + octets for name, (choice, cutting, octets) in rows.items()}


def request(*lines: str, first: str = "GET / HTTP/1.1", host: str | None = "a") -> bytes:
    fields = ([f"Host: {host}"] if host is not None else []) + list(lines)
    return "".join(f"{line}\r\n" for line in [first, *fields, ""]).encode("latin-1")


def heads() -> dict[str, bytes]:
    post = "POST /v1/messages HTTP/1.1"
    chunked = request("Transfer-Encoding: chunked", first=post)
    normal = {
        "get": request("Accept: */*"),
        "get-two": request() + request(first="GET /second?x=1 HTTP/1.1"),
        "http-1.0-without-host": request(first="GET / HTTP/1.0", host=None),
        "absolute-form": request(first="GET http://a/x?y HTTP/1.1"),
        "options-star": request(first="OPTIONS * HTTP/1.1"),
        "empty-lines-before": b"\r\n\r\n" + request(),
        "post": request("Content-Length: 5", "Expect: 100-continue", first=post) + b"Hello" + request(),
        "post-of-nothing": request("Content-Length: 0", "Connection: close", first=post),
        "chunked": chunked + b"5;a=b\r\nHello\r\n0\r\nX: y\r\n\r\n" + request(),
        "ipv6-host": request(host="[::1]:8080"),
        "H-cr-alone": b"GET / HTTP/1.1\rHost: a\r\n\r\n",
        "H-lf-alone": b"GET / HTTP/1.1\nHost: a\n\n",
        "H-nul": request("X: \0"),
        "H-empty-lines-only": b"\r\n" * 5,
        "H-request-line-of-two": request(first="GET /"),
        "H-version-2": request(first="GET / HTTP/2.0"),
        "H-version-broken": request(first="GET / HTTP/11"),
        "H-method-too-long": request(first="A" * 33 + " / HTTP/1.1"),
        "H-target-unescaped": request(first="GET /\xe9 HTTP/1.1"),
        "H-target-with-fragment": request(first="GET /#a HTTP/1.1"),
        "H-target-of-another-scheme": request(first="GET ftp://a/ HTTP/1.1"),
        "H-connect": request(first="CONNECT a:1 HTTP/1.1"),
        "H-folded": request("X: a", " b"),
        "H-field-without-colon": request("X"),
        "H-blank-before-colon": request("X : a"),
        "H-control-character": request("X: a\x01"),
        "H-host-missing": request(host=None),
        "H-host-twice": request("Host: a"),
        "H-host-list": request(host="a,b"),
        "H-host-with-user": request(host="u@a"),
        "H-host-unlike-target": request(first="GET http://b/ HTTP/1.1"),
        "H-length-beside-chunked": request("Content-Length: 5", "Transfer-Encoding: chunked", first=post) + b"0\r\n\r\n",
        "H-chunked-in-1.0": request("Transfer-Encoding: chunked", first="POST / HTTP/1.0"),
        "H-length-twice": request("Content-Length: 5", "Content-Length: 5", first=post) + b"Hello",
        "H-length-list": request("Content-Length: 5, 5", first=post) + b"Hello",
        "H-length-negative": request("Content-Length: -1", first=post),
        "H-length-of-19-digits": request("Content-Length: " + "9" * 19, first=post),
        "H-length-above-the-limit": request("Content-Length: 1048577", first=post),
        "H-coding-twice": request("Transfer-Encoding: chunked, chunked", first=post),
        "H-coding-misspelt": request("Transfer-Encoding: xchunked", first=post),
        "H-coding-gzip": request("Transfer-Encoding: gzip, chunked", first=post),
        "H-chunk-size-missing": chunked + b"\r\n",
        "H-chunk-size-of-17-digits": chunked + b"0" * 17 + b"\r\n",
        "H-chunk-without-its-end": chunked + b"1\r\nab\r\n",
        "H-chunk-lf-alone": chunked + b"1\na\r\n",
        "H-chunk-above-the-limit": chunked + b"7fffffffffffffff\r\n",
        "H-trailers-too-long": chunked + b"0\r\n" + b"X: " + b"a" * 4096,
        "H-chunk-extension-too-long": chunked + b"1;" + b"a" * 4096,
    }
    small = {
        "small-target-of-32": request(first="GET /" + "a" * 31 + " HTTP/1.1"),
        "small-body-of-64": request("Content-Length: 64", first="POST / HTTP/1.1") + b"a" * 64,
        "small-chunks-of-64": request("Transfer-Encoding: chunked", first="POST / HTTP/1.1") + (b"20\r\n" + b"a" * 32 + b"\r\n") * 2 + b"0\r\n\r\n",
        "small-fields-of-6": request(*["X: a"] * 5),
        "C019-many-fields": request(*["X: a"] * 6),
        "C019-a-long-field": request("X: " + "a" * 600),
        "C019-a-long-target": request(first="GET /" + "a" * 32 + " HTTP/1.1"),
        "C019-a-target-without-end": b"GET /" + b"a" * 600,
        "small-chunks-above-64": request("Transfer-Encoding: chunked", first="POST / HTTP/1.1") + b"20\r\n" + b"a" * 32 + b"\r\n21\r\n",
        "small-body-above-64": request("Content-Length: 65", first="POST / HTTP/1.1"),
    }  # fmt: skip
    rows = {name: (0, 2 + at, octets) for at, (name, octets) in enumerate(normal.items())}
    rows |= {name: (1, 2 + at, octets) for at, (name, octets) in enumerate(small.items())}
    return {name: bytes([limits, cutting]) + octets for name, (limits, cutting, octets) in rows.items()}


KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
UPGRADE = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", KEY]
EXTENSIONS = "Sec-WebSocket-Extensions: "
# The accept key of sixteen zeros, AAAAAAAAAAAAAAAAAAAAAA==.
ACCEPT = "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI="


def response(*lines: str, first: str = "HTTP/1.1 101 Switching Protocols") -> bytes:
    return "".join(f"{line}\r\n" for line in [first, *lines, ""]).encode("latin-1")


def handshakes() -> dict[str, bytes]:
    live = "GET /v1/live HTTP/1.1"
    offers = {
        "chrome": "permessage-deflate; client_max_window_bits",
        "firefox": "permessage-deflate",
        "safari": "x-webkit-deflate-frame, permessage-deflate",
        "every-parameter": "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
        "server_max_window_bits=10; client_max_window_bits=\"9\"",
        "second-one-fits": "permessage-deflate; server_max_window_bits=7, permessage-deflate; client_max_window_bits=11",
        "unknown-parameter": "permessage-deflate; foo=bar",
        "repeated-parameter": "permessage-deflate; server_max_window_bits=9; server_max_window_bits=9",
        "value-that-is-none": "permessage-deflate; server_no_context_takeover=1",
    }
    server = {f"C008-offer-{name}": (0, request(*UPGRADE, EXTENSIONS + offer, first=live)) for name, offer in offers.items()}
    server |= {
        "upgrade": (0, request(*UPGRADE, "Sec-WebSocket-Protocol: x, threadcast.v1.json", first=live)),
        "upgrade-without-policy": (2, request(*UPGRADE, EXTENSIONS + offers["chrome"], first=live)),
        "upgrade-with-takeover": (4, request(*UPGRADE, EXTENSIONS + offers["chrome"], first=live)),
        "upgrade-in-two-fields": (6, request(*UPGRADE, EXTENSIONS + "a;b=\"c\\d\"", EXTENSIONS + offers["firefox"], first=live)),
        "upgrade-by-post": (0, request(*UPGRADE, first="POST /v1/live HTTP/1.1")),
        "upgrade-to-h2c": (0, request("Upgrade: h2c", *UPGRADE[1:], first=live)),
        "upgrade-in-1.0": (0, request(*UPGRADE, first="GET /v1/live HTTP/1.0")),
        "upgrade-of-version-8": (0, request(*UPGRADE[:2], "Sec-WebSocket-Version: 8", KEY, first=live)),
        "upgrade-with-a-body": (0, request(*UPGRADE, "Content-Length: 1", first=live)),
        "upgrade-without-a-key": (0, request(*UPGRADE[:3], first=live)),
        "upgrade-with-a-key-of-15": (0, request(*UPGRADE[:3], "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA", first=live)),
        "upgrade-with-bits-left-over": (0, request(*UPGRADE[:3], "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAB==", first=live)),
        "upgrade-with-broken-extensions": (0, request(*UPGRADE, EXTENSIONS + "permessage-deflate; =", first=live)),
        "upgrade-with-an-open-quote": (0, request(*UPGRADE, EXTENSIONS + 'a; b="c', first=live)),
    }
    good = ["Upgrade: WebSocket", "Connection: keep-alive, upgrade", ACCEPT]
    answers = {
        "answer": (0, response(*good, "Sec-WebSocket-Protocol: threadcast.v1.json")),
        "answer-with-deflate": (2, response(*good, EXTENSIONS + "permessage-deflate; client_max_window_bits=12")),
        "answer-with-a-server-window": (5, response(*good, EXTENSIONS + "permessage-deflate; server_max_window_bits=9; server_no_context_takeover")),
        "answer-503": (0, response("Retry-After: 1", first="HTTP/1.1 503 Service Unavailable")),
        "answer-without-upgrade": (0, response(*good[1:])),
        "answer-without-connection": (0, response(good[0], good[2])),
        "answer-with-another-key": (0, response(*good[:2], "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")),
        "answer-with-another-subprotocol": (0, response(*good, "Sec-WebSocket-Protocol: soap")),
        "answer-with-a-subprotocol-unasked": (8, response(*good, "Sec-WebSocket-Protocol: chat")),
        "C008-answer-with-deflate-unasked": (0, response(*good, EXTENSIONS + "permessage-deflate")),
        "C008-answer-with-a-client-window-unasked": (1, response(*good, EXTENSIONS + "permessage-deflate; client_max_window_bits=9")),
        "answer-with-cr-alone": (0, b"HTTP/1.1 101\rUpgrade: websocket\r\n\r\n"),
        "answer-with-lf-alone": (0, b"HTTP/1.1 101 x\n\n"),
        "answer-with-nul": (0, response("X: \0")),
        "answer-without-status-line": (0, b"\r\n"),
        "answer-with-a-broken-status": (0, response(first="HTTP/1.1 1o1 x")),
        "answer-with-a-broken-field": (0, response("X : y")),
        "answer-with-a-field-not-utf8": (0, response("X: \xff")),
        "C019-answer-too-large": (0, b"HTTP/1.1 101 " + b"a" * 16_400),
    }  # fmt: skip
    rows = {name: (choice, 0, octets) for name, (choice, octets) in server.items()}
    for at, (name, (offer, octets)) in enumerate(answers.items()):
        rows[name] = (1 | (offer & 7) << 1 | (offer & 8) << 1, 2 + at, octets)
    return {name: bytes([choice, cutting]) + octets for name, (choice, cutting, octets) in rows.items()}


def inflations() -> dict[str, bytes]:
    compress, context = 1, 2
    window = {bits: bits - 8 << 4 for bits in range(8, 16)}
    sentence = b"The quick brown fox, the quick brown fox and the lazy dog. "
    rows = {
        "hello": (0, 0, HELLO),
        "nothing": (0, 0, b"\x00"),
        "stored": (4, 0, stored(b"Hello")),
        "two-blocks": (0, 0, bytes.fromhex("f248050000 00ffffcac9c90700")),
        "final-block": (0, 0, bytes.fromhex("f348cdc9c9070000")),
        "C001-to-the-limit": (0, 0, zeros(64)),
        "C001-one-above": (0, 0, zeros(65)),
        "C001-two-above": (0, 0, zeros(66)),
        "C001-three-above": (0, 0, zeros(67)),
        "C006-bomb": (12, 0, zeros(1 << 18)),
        "damaged-block-type": (0, 0, b"\x06"),
        "damaged-distance": (0, 0, bytes.fromhex("030200")),
        "cut-in-a-block": (0, 0, HELLO[:4]),
        "stored-cut": (0, 0, stored(b"Hello")[:7]),
        "context-one-by-one": (context, 2, HELLO + HELLO),
        "C007-through-the-deflater": (compress | context | window[15], 6, sentence * 8),
        "C007-random-and-text": (compress | context | window[9], 7, bytes(at * 193 % 251 for at in range(700)) + sentence * 4),
        "empty-message": (compress, 0, b""),
    }
    for bits in range(8, 16):
        rows[f"C008-window-of-{bits}"] = (compress | window[bits] | (bits & 3) << 2, 2 + bits, sentence * 6)
        rows[f"C008-window-of-{bits}-with-context"] = (compress | context | window[bits], 3 + bits, sentence * 6)
    return {name: bytes([choice, cutting]) + octets for name, (choice, cutting, octets) in rows.items()}


def call(op: str, data: str, id_: str = "1") -> str:
    return f'{{"id":{id_},"op":"{op}","data":{data}}}'


def send(fields: str, to: str = '"receiverUid":"bob","receiverType":"user"') -> str:
    return call("message.send", "{" + ",".join(part for part in (to, fields) if part) + "}")


def operations() -> dict[str, bytes]:
    file = '{"name":"a","extension":"b","size":1,"mimeType":"image/png","url":"https://a/b"}'
    socket = {
        "ping": '{"id":"p","op":"ping"}',
        "connect": call("connect", '{"token":"t","device":{"id":"d","platform":"ios","name":"n"},"resume":{"epoch":"e","seq":5},'
                        '"replies":"open","openThreads":[1,"2"],"foreground":false}'),
        "send-text": send('"text":"<@uid:bob> \\u00e9\\ud83d\\ude00","parentMessageId":"42","quotedMessageId":0,"muid":"m",'
                          '"tags":["a"],"metadata":{"a":[1,2.5e3,-0,null,true,{"b":18446744073709551615}]}'),
        "send-media": send(f'"attachments":[{file}],"caption":"c","subType":"s"'),
        "send-custom": send('"customType":"poll","customData":{"q":["a","b"]},"conversationText":"t","updateConversation":true,"sendNotification":false'),
        "send-to-a-group": send('"text":"x","parentMessageId":1', '"receiverUid":"team","receiverType":"group"'),
        "members-twice-the-same-name": '{"id":1,"id":2,"op":"ping","op":"ping","data":{"a":1,"a":2}}',
        "get": call("message.get", '{"id":9007199254740991}'),
        "edit": call("message.edit", '{"id":7,"text":"x","caption":"","customData":{},"metadata":{"a":1},"tags":[]}'),
        "edit-of-nothing": call("message.edit", '{"id":7,"text":null}'),
        "delete": call("message.delete", '{"id":"7"}'),
        "react": call("reaction.add", '{"id":7,"emoji":"\\ud83d\\udc4d"}'),
        "react-unseen": call("reaction.remove", '{"id":7,"emoji":"\\u200d"}'),
        "reactions": call("reactions.list", '{"id":7,"emoji":":ok:","after":5,"limit":10}'),
        "list": call("messages.list", '{"guid":"team","id":5,"direction":"after","limit":100,"hideReplies":true}'),
        "subscribe": call("thread.subscribe", '{"parentMessageId":5}'),
        "members-add": call("members.add", '{"guid":"team","members":[{"uid":"bob","scope":"admin"},{"uid":"cyd"}]}'),
        "groups-create": call("groups.create", '{"guid":"g","name":"G","type":"private","icon":"i","description":"d","metadata":{},"tags":["t"],"owner":"ann"}'),
        "session-update": call("session.update", '{"replies":"subscribed","foreground":true}'),
        "thread-open": call("thread.open", '{"parentMessageId":"7"}'),
        "thread-close": call("thread.close", '{"parentMessageId":7}'),
        "typing-start": call("typing.start", '{"receiverUid":"team","receiverType":"group","parentMessageId":7}'),
        "typing-stop": call("typing.stop", '{"receiverUid":"bob","receiverType":"user"}'),
        "empty": " ",
        "malformed": '{"id":1',
        "not-utf8": b'{"id":"\xff"}',
        "an-array": "[]",
        "id-missing": '{"op":"ping"}',
        "id-too-long": f'{{"id":"{"a" * 65}","op":"ping"}}',
        "op-missing": '{"id":1}',
        "op-misspelt": call("message.sent", "{}"),
        "op-unknown": call("launch", "{}"),
        "data-is-an-array": call("ping", "[]"),
        "C084-deep": '{"id":1,"op":"ping","data":' + "[" * 40 + "]" * 40 + "}",
        "C084-very-deep": "[" * 10_000 + "]" * 10_000,
        "C084-parent-1.0": send('"text":"x","parentMessageId":1.0'),
        "C084-parent-1e3": send('"text":"x","parentMessageId":1e3'),
        "C084-parent-1e400": send('"text":"x","parentMessageId":1e400'),
        "C084-parent-minus-zero": send('"text":"x","parentMessageId":-0'),
        "C084-parent-minus-one": send('"text":"x","parentMessageId":-1'),
        "C084-parent-2-to-the-64": send('"text":"x","parentMessageId":18446744073709551616'),
        "C084-parent-2-to-the-63": send('"text":"x","parentMessageId":9223372036854775808'),
        "C084-parent-text-42": send('"text":"x","parentMessageId":"42"'),
        "C084-parent-null": send('"text":"x","parentMessageId":null'),
        "C084-parent-true": send('"text":"x","parentMessageId":true'),
        "C084-parent-of-10000-digits": send('"text":"x","parentMessageId":' + "9" * 10_000),
        "C085-nul": send('"text":"a\\u0000b"'),
        "C085-high-surrogate": send('"text":"\\ud83d"'),
        "C085-low-before-high": send('"text":"x","metadata":{"a":"\\udc00\\ud83d"}'),
        "C085-lone-low-surrogate": send('"text":"x","metadata":{"\\udc00":1}'),
        "C085-literal-backslash": send('"text":"\\\\u0000"'),
        "required-field-missing": send("", ""),
        "text-is-a-number": send('"text":5'),
        "text-blank": send('"text":" \\u2003\\n"'),
        "flag-is-a-text": call("connect", '{"foreground":"true"}'),
        "seq-negative": call("connect", '{"resume":{"epoch":"e","seq":-1}}'),
        "choice-unknown": call("connect", '{"replies":"some"}'),
        "device-is-a-text": call("connect", '{"device":"d"}'),
        "device-blank": call("connect", '{"device":{"id":" "}}'),
        "threads-are-no-array": call("connect", '{"openThreads":5}'),
        "threads-are-no-ids": call("connect", '{"openThreads":[0]}'),
        "uid-malformed": call("users.get", '{"uid":"b o b"}'),
        "tags-of-numbers": send('"text":"x","tags":[1]'),
        "attachments-of-texts": send('"attachments":["a"]'),
        "members-of-nobody": call("members.add", '{"guid":"team","members":[]}'),
        "subscribe-to-nothing": call("thread.subscribe", "{}"),
        "custom-with-text": send('"customType":"a","customData":{},"text":"x"'),
        "custom-of-another-type": send('"customType":"a","customData":{},"type":"b"'),
        "custom-type-in-a-message": send('"category":"message","customType":"a","text":"x"'),
        "caption-on-a-text": send('"text":"x","caption":"c"'),
        "text-on-media": send(f'"attachments":[{file}],"text":"x"'),
        "list-of-two-places": call("messages.list", '{"uid":"bob","guid":"team"}'),
        "list-of-a-thread-and-a-user": call("messages.list", '{"uid":"bob","parentMessageId":1}'),
        "group-with-password": call("groups.create", '{"guid":"g","name":"G","type":"password"}'),
    }  # fmt: skip
    small = {
        "M5-text": send('"text":"' + "a" * 17 + '"'),
        "M5-text-at-its-limit": send('"text":"' + "a" * 16 + '","muid":"éééé","tags":["aaaa","b"],"metadata":{"a":"bcdefghijklmnopqrstuvwx"}'),
        "M5-metadata": send('"text":"x","metadata":{"a":"bcdefghijklmnopqrstuvwxyz"}'),
        "M5-custom-data": send('"customType":"a","customData":{"a":"bcdefghijklmnopqrstuvwxyz"}'),
        "M5-tags": send('"text":"x","tags":["a","b","c"]'),
        "M5-tag": send('"text":"x","tags":["abcde"]'),
        "M5-attachments": send(f'"attachments":[{file},{file},{file}]'),
        "M5-threads": call("connect", '{"openThreads":[1,2,3]}'),
        "M5-muid": send('"text":"x","muid":"abcde"'),
        "M5-reaction": call("reaction.add", '{"id":7,"emoji":"' + "a" * 33 + '"}'),
        "M5-name": send('"text":"x","subType":"abcdefghijklm"'),
        "M5-url": call("groups.create", '{"guid":"g","name":"G","icon":"https://example.com/a.png"}'),
        "M5-description": call("groups.create", '{"guid":"g","name":"G","description":"a long description"}'),
        "M5-members": call("members.add", '{"guid":"g","members":[{"uid":"a"},{"uid":"b"},{"uid":"c"}]}'),
    }
    http = {
        "http-send": "POST /v1/messages\n" + '{"receiverUid":"bob","receiverType":"user","text":"x"}',
        "http-list": "GET /v1/messages?uid=bob&limit=5&hideReplies=true&direction=before",
        "http-get": "GET /v1/messages/42",
        "http-unsubscribe": "DELETE /v1/messages/42/thread/subscription",
        "http-edit": "PATCH /v1/messages/42\n" + '{"text":"x"}',
        "http-delete": "DELETE /v1/messages/42",
        "http-react": "PUT /v1/messages/42/reactions/%F0%9F%91%8D",
        "http-reactions": "GET /v1/messages/42/reactions?emoji=%F0%9F%91%8D&after=5&limit=3",
        "http-kick": "DELETE /v1/groups/team/members/bob",
        "http-members": "GET /v1/groups/te%61m/members?after=ann&limit=10",
        "http-create-user": "POST /v1/admin/users\n" + '{"uid":"dan","name":"Dan","tags":["a"],"metadata":{"a":1}}',
        "http-mint": "POST /v1/admin/tokens\n" + '{"uid":"dan","ttlSeconds":60}',
        "http-revoke": "DELETE /v1/admin/tokens\n" + '{"token":"t"}',
        "http-revoke-nothing": "DELETE /v1/admin/tokens\n" + '{"token":""}',
        "http-nowhere": "GET /v1/nowhere",
        "http-encoded-slash": "GET /v1%2Fmessages",
        "http-nul-in-the-path": "GET /v1/users/%00",
        "http-another-method": "PUT /v1/messages",
        "http-broken-query": "GET /v1/messages?uid=%zz",
        "http-nul-in-the-query": "GET /v1/messages?uid=%00",
        "http-body-is-an-array": "POST /v1/messages\n[]",
        "http-application-user": "POST /v1/admin/users\n" + '{"uid":"app","name":"A"}',
        "http-C084-id": "GET /v1/messages/1e3",
        "http-C084-parent": "PUT /v1/messages/00/thread/subscription",
    }
    rows = {name: (0, text) for name, text in socket.items()}
    rows |= {name: (2, text) for name, text in small.items()}
    rows |= {name: (1, text) for name, text in http.items()}
    rows["M5-body"] = (3, "POST /v1/messages\n" + '{"text":"' + "a" * 512 + '"}')
    return {
        name: bytes([choice]) + (text if isinstance(text, bytes) else text.encode()) for name, (choice, text) in rows.items()
    }


def main() -> int:
    check = "--check" in sys.argv[1:]
    wrong = []
    makers = {"frame": frames, "head": heads, "handshake": handshakes, "inflate": inflations, "operation": operations}
    for target, make in makers.items():
        folder = CORPUS / target
        rows = make()
        for path in folder.glob("*") if folder.is_dir() else []:
            if not path.name.startswith("found-") and path.name not in rows:
                wrong.append(f"{path.relative_to(CORPUS)} is in no table")
                if not check:
                    path.unlink()
        if not check:
            folder.mkdir(parents=True, exist_ok=True)
        for name, octets in rows.items():
            path = folder / name
            if check and not (path.is_file() and path.read_bytes() == octets):
                wrong.append(f"{target}/{name} is not as the table says")
            elif not check:
                path.write_bytes(octets)
    for line in wrong if check else []:
        print(f"seeds: {line}; run Tests/Fuzz/seeds.py")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
