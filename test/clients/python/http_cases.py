"""HTTP clients: httpx over both versions, aiohttp, and h2 frame by frame."""

import asyncio
import hashlib
import itertools
import json
import socket
import urllib.parse

import aiohttp
import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
import httpx

from world import HTTP, HTTPS, WORLD, case, expect, tls

PATTERN = bytes(i * 7 % 256 for i in range(65536))
PARTS = 256
DIGEST = hashlib.sha256(PATTERN * PARTS).hexdigest()


def run():
    for name, base, http2 in (("HTTP/1.1", HTTP, False), ("HTTP/1.1 over TLS", HTTPS, False), ("HTTP/2 over TLS", HTTPS, True)):
        with httpx.Client(verify=tls(), http1=not http2, http2=http2, timeout=60) as client:
            case("httpx", f"download of 64 MiB, {name}", lambda: download(client, base, http2))
            case("httpx", f"upload of 16 MiB with its length, {name}", lambda: upload(client, base, PATTERN * PARTS))
            case("httpx", f"upload of 16 MiB without a length, {name}", lambda: upload(client, base, itertools.repeat(PATTERN, PARTS)))
            case("httpx", f"100 requests on an upstream that ends each connection, {name}", lambda: races(client, base))
            for upstream in WORLD["upstreams"]:
                if upstream in ("uvicorn", "hypercorn"):
                    case(upstream, f"as upstream of httpx: download, upload, {name}", lambda: through(client, base, upstream))
    case("httpx", "20 requests at once, HTTP/2 over TLS", lambda: asyncio.run(at_once()))
    case("aiohttp", "download of 64 MiB and chunked upload, HTTP/1.1 over TLS", lambda: asyncio.run(aiohttp_bodies()))
    case("aiohttp", "200 requests with 8 connections on an upstream that ends each connection", lambda: asyncio.run(aiohttp_races()))
    for window, step in ((65_535, 1024), (65_535, 16_384), (1_000_000, 100)):
        case("h2", f"download of 4 MB with a window of {window}, acknowledged by {step}", lambda: frames(window, step))


def download(client, base, http2):
    digest = hashlib.sha256()
    with client.stream("GET", f"{base}/files/bytes/{WORLD['download_bytes']}") as answer:
        expect(answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1"), answer.http_version)
        for part in answer.iter_raw():
            digest.update(part)
    expect(digest.hexdigest() == WORLD["download_sha256"], "another digest")


def upload(client, base, body, api="files"):
    told = client.post(f"{base}/{api}/upload", content=body).json()
    expect(told["sha256"] == DIGEST, told)


def races(client, base):
    for i in range(100):
        answer = client.get(f"{base}/files/last")
        expect(answer.status_code == 200, f"request {i}: {answer.status_code}")


def through(client, base, upstream):
    answer = client.get(f"{base}/{upstream}/bytes/4000000")
    expect(answer.status_code == 200 and len(answer.content) == 4_000_000, f"{answer.status_code}, {len(answer.content)}")
    upload(client, base, PATTERN * PARTS, upstream)
    upload(client, base, itertools.repeat(PATTERN, PARTS), upstream)
    expect(client.head(f"{base}/{upstream}/bytes/10").status_code == 200, "HEAD")


async def at_once():
    async with httpx.AsyncClient(verify=tls(), http1=False, http2=True, timeout=60) as client:
        answers = await asyncio.gather(*(client.get(f"{HTTPS}/files/bytes/500000") for _ in range(20)))
    expect(all(len(answer.content) == 500_000 for answer in answers), [answer.status_code for answer in answers])


async def aiohttp_bodies():
    async def parts():
        for _ in range(PARTS):
            yield PATTERN

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=tls())) as session:
        digest = hashlib.sha256()
        async with session.get(f"{HTTPS}/files/bytes/{WORLD['download_bytes']}") as answer:
            async for part in answer.content.iter_any():
                digest.update(part)
        expect(digest.hexdigest() == WORLD["download_sha256"], "another digest")
        async with session.post(f"{HTTPS}/files/upload", data=parts()) as answer:
            told = json.loads(await answer.text())
            expect(told["sha256"] == DIGEST, told)


async def aiohttp_races():
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=8)) as session:

        async def one():
            async with session.get(f"{HTTP}/files/last") as answer:
                return answer.status, await answer.text()

        answers = await asyncio.gather(*(one() for _ in range(200)))
    expect(set(answers) == {(200, "ok")}, set(answers))


def frames(window, step):
    """Returns the window in frames of `step` bytes, on the connection and on the stream."""
    address = urllib.parse.urlsplit(HTTP)
    with socket.create_connection((address.hostname, address.port), timeout=30) as peer:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        connection.local_settings[h2.settings.SettingCodes.INITIAL_WINDOW_SIZE] = window
        connection.initiate_connection()
        head = [(":method", "GET"), (":scheme", "http"), (":authority", address.netloc), (":path", "/files/bytes/4000000")]
        connection.send_headers(1, head, end_stream=True)
        peer.sendall(connection.data_to_send())
        got = 0
        while True:
            data = peer.recv(65_536)
            expect(data != b"", f"the connection ended after {got} bytes")
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    got += len(event.data)
                    return_window(connection, event.flow_controlled_length, step)
                elif isinstance(event, (h2.events.ConnectionTerminated, h2.events.StreamReset)):
                    raise AssertionError(f"{event} after {got} bytes")
                elif isinstance(event, h2.events.StreamEnded):
                    expect(got == 4_000_000, f"{got} bytes")
                    return
            peer.sendall(connection.data_to_send())


def return_window(connection, left, step):
    while left > 0:
        part = min(step, left)
        connection.increment_flow_control_window(part)
        try:
            connection.increment_flow_control_window(part, stream_id=1)
        except h2.exceptions.StreamClosedError:
            # Its end has come with the same bytes.
            pass
        left -= part
