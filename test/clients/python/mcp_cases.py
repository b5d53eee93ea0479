"""MCP's Python SDK at an MCP server behind the product: it is given the server's address and nothing else."""

import asyncio

import httpx2
from mcp import ClientSession
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

from world import REDIRECT, browse, case, expect, issuer, parameters, tls


def run():
    for method in ("none", "client_secret_basic", "client_secret_post"):
        case("mcp", f"sign-in by the address alone, call of a tool: {method}", lambda: asyncio.run(sign_in(method)))
    case("mcp", "refresh, without the person", lambda: asyncio.run(refresh()))


class Memory:
    """What the app learns."""

    tokens = None
    registered = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.registered

    async def set_client_info(self, client_info):
        self.registered = client_info


class App:
    def __init__(self, method):
        self.memory = Memory()
        self.visits = 0
        self.back = {}
        self.auth = OAuthClientProvider(
            server_url=issuer("mcp"),
            client_metadata=OAuthClientMetadata(client_name="Python", redirect_uris=[REDIRECT], token_endpoint_auth_method=method),
            storage=self.memory,
            redirect_handler=self.redirect,
            callback_handler=self.callback,
        )

    async def redirect(self, address):
        self.visits += 1
        self.back = parameters(await asyncio.to_thread(browse, address))

    async def callback(self):
        return AuthorizationCodeResult(code=self.back["code"], state=self.back["state"], iss=self.back.get("iss"))

    async def use(self):
        async with (
            httpx2.AsyncClient(verify=tls(), auth=self.auth, timeout=30) as client,
            streamable_http_client(issuer("mcp"), http_client=client) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            expect(names == ["list_notes"], f"the server lists {names}")
            called = await session.call_tool("list_notes", {})
            expect(called.content[0].text == "list_notes done", called)


async def sign_in(method):
    app = App(method)
    await app.use()
    await app.use()
    expect(app.visits == 1, f"the user signed in {app.visits} times")
    expect((app.memory.registered.client_secret is None) == (method == "none"), "a public client has a secret, or another none")


async def refresh():
    app = App("none")
    await app.use()
    before = app.memory.tokens.refresh_token
    # As if an hour had passed.
    app.auth.context.token_expiry_time = 1
    await app.use()
    expect(app.memory.tokens.refresh_token != before, "the app did not refresh")
    expect(app.visits == 1, f"the user signed in {app.visits} times")
