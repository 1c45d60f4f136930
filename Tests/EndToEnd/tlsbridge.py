"""A plain listener whose every connection goes on over TLS: for clients that speak no TLS themselves.

Runs as a process of its own (`python tlsbridge.py PORT CERTIFICATE`), so that it does not slow the test down; prints
the port it listens on.
"""

import asyncio
import ssl
import sys


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while octets := await source.read(262_144):
            sink.write(octets)
            await sink.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        sink.close()


async def main(port: int, certificate: str) -> None:
    context = ssl.create_default_context(cafile=certificate)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(
                "127.0.0.1", port, ssl=context, server_hostname="localhost", limit=1 << 20
            )
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
