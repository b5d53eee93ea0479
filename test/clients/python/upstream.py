"""An ASGI application for uvicorn and hypercorn: `/bytes/{n}`, `/upload`, and WebSockets that send back what they get."""

import hashlib
import json

BLOCK = bytes(65536)


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["type"] == "websocket":
        await echo(receive, send)
    elif scope["path"].startswith("/bytes/"):
        await send_bytes(int(scope["path"].split("/")[2]), scope["method"], send)
    else:
        await tell_upload(receive, send)


async def echo(receive, send):
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": event.get("bytes"), "text": event.get("text")})


async def send_bytes(count, method, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(count).encode())]})
    while method != "HEAD" and count > len(BLOCK):
        await send({"type": "http.response.body", "body": BLOCK, "more_body": True})
        count -= len(BLOCK)
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else BLOCK[:count]})


async def tell_upload(receive, send):
    digest, count, more = hashlib.sha256(), 0, True
    while more:
        event = await receive()
        if event["type"] != "http.request":
            return
        digest.update(event.get("body", b""))
        count += len(event.get("body", b""))
        more = event.get("more_body", False)
    # Without a length: the server frames it.
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    body = json.dumps({"bytes": count, "sha256": digest.hexdigest(), "trailers": {}}).encode()
    await send({"type": "http.response.body", "body": body})
