import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type {
  OAuthClientInformationFull,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/** How an app proves who it is at the token endpoint. */
export type ClientMethod = 'none' | 'client_secret_basic' | 'client_secret_post'

const CALLBACK = 'http://127.0.0.1:7654/callback'

/** An MCP server by the SDK, over streamed HTTP without sessions, with two tools. */
interface RunningMcpServer {
  readonly url: string
  /** The tools that were called. */
  readonly seen: string[]
  close(): Promise<void>
}

/** Starts one that ends with the test. */
export async function startMcpServer(t: TestContext): Promise<RunningMcpServer> {
  const server = await serveMcp()
  t.after(() => server.close())
  return server
}

/** Starts one that is to be closed. */
export async function serveMcp(): Promise<RunningMcpServer> {
  const seen: string[] = []
  const made = () => {
    const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
    for (const name of ['list_notes', 'delete_note'])
      mcp.registerTool(name, { description: `${name} of the notes` }, async () => {
        seen.push(name)
        return { content: [{ type: 'text', text: `${name} done` }] }
      })
    return mcp
  }
  const server = createServer(async (request, response) => {
    const transport = new StreamableHTTPServerTransport({})
    response.on('close', () => void transport.close())
    await made().connect(transport as Transport)
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** An app of the SDK that knows nothing but the address of an MCP server, and keeps in memory what it learns. */
export class McpApp implements OAuthClientProvider {
  readonly redirectUrl: string
  readonly clientMetadata: OAuthClientMetadata
  registered: OAuthClientInformationFull | undefined
  held: OAuthTokens | undefined
  /** Where the app sent the browser, in order. */
  readonly sentTo: URL[] = []
  #verifier = ''

  constructor(
    method: ClientMethod,
    grants: readonly string[] = ['authorization_code', 'refresh_token'],
    callback = CALLBACK,
  ) {
    this.redirectUrl = callback
    this.clientMetadata = {
      redirect_uris: [callback],
      client_name: 'Notes for agents',
      grant_types: [...grants],
      response_types: ['code'],
      token_endpoint_auth_method: method,
    }
  }

  clientInformation() {
    return this.registered
  }

  saveClientInformation(registered: OAuthClientInformationFull) {
    this.registered = registered
  }

  tokens() {
    return this.held
  }

  saveTokens(tokens: OAuthTokens) {
    this.held = tokens
  }

  redirectToAuthorization(url: URL) {
    this.sentTo.push(url)
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }

  codeVerifier() {
    return this.#verifier
  }

  /** Connects; where the server asks for a person, `signIn` is the browser: it answers the code for the address that the app sent it to. */
  async connect(url: URL, signIn: (sentTo: URL) => Promise<string>): Promise<Client> {
    for (let tries = 0; tries < 2; tries++) {
      const client = new Client({ name: 'agent', version: '1.0.0' })
      const transport = new StreamableHTTPClientTransport(url, { authProvider: this })
      try {
        await client.connect(transport as Transport)
        return client
      } catch (error) {
        assert.ok(error instanceof UnauthorizedError, String(error))
        await transport.finishAuth(await signIn(this.sentTo.at(-1)!))
      }
    }
    throw new Error('the app is asked to sign in again and again')
  }
}
