"""WebSocket clients, with and without TLS, to upstreams in Node and Python."""

import asyncio

import aiohttp
import websockets

from world import HTTP, HTTPS, WORLD, case, expect, tls

MESSAGES = ["", "one", "ä" * 126, b"c" * 65_536, b"d" * (4 << 20)]


def run():
    upstreams = ["files", *(name for name in WORLD["upstreams"] if name in ("uvicorn", "hypercorn"))]
    for name, base in (("", HTTP), (" over TLS", HTTPS)):
        for upstream in upstreams:
            to = "" if upstream == "files" else f" to {upstream}"
            url = f"{base}/{upstream}/socket"
            case("websockets", f"echo of texts and of 4 MiB, close{to}{name}", lambda: asyncio.run(echo(url)))
            case("aiohttp", f"WebSocket: echo of texts and of 4 MiB, close{to}{name}", lambda: asyncio.run(aiohttp_echo(url)))


async def echo(url):
    context = tls() if url.startswith("https") else None
    async with websockets.connect(url.replace("http", "ws", 1), ssl=context, max_size=None) as socket:
        for message in MESSAGES:
            await socket.send(message)
            expect(await socket.recv() == message, f"something else for {len(message)}")
        await (await socket.ping())
        await socket.close()
        expect(socket.close_code == 1000, socket.close_code)


async def aiohttp_echo(url):
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls())) as session:
        async with session.ws_connect(url, max_msg_size=0) as socket:
            for message in MESSAGES:
                await (socket.send_str(message) if isinstance(message, str) else socket.send_bytes(message))
                back = await socket.receive()
                expect(back.data == message, f"{back.type} for {len(message)}")
            await socket.close()
            expect(socket.close_code == 1000, socket.close_code)
