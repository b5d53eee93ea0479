import { Provider } from 'oidc-provider'

/**
 * npm `oidc-provider` as the peer of the token bench: `node bench/oidc-peer.ts <port> <client id> <client secret>`. Opaque tokens,
 * its own in-memory adapter, one process, client credentials at `/token`, introspection at `/token/introspection`.
 */
const [port, clientId, clientSecret] = process.argv.slice(2)
if (port === undefined || clientId === undefined || clientSecret === undefined) throw new Error('arguments missing')

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    devInteractions: { enabled: false },
  },
  ttl: { ClientCredentials: 3600 },
})
provider.listen(Number(port), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
