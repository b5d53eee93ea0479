import { Type } from 'typebox'
import { edgesOf } from '../apis/api-url.ts'
import { bare } from '../routes/answer.ts'
import { described } from '../routes/described.ts'
import type { Route } from '../routes/route.ts'
import { gatewayUrl } from '../server/gateway-url.ts'
import type { DashboardParts } from '../server/parts.ts'
import { uncached } from '../sign-in/browser.ts'

const text = Type.String()
const Setting = Type.Object(
  {
    path: Type.String({ description: 'Name of the setting, with dots.' }),
    env: Type.String({ description: 'The name that sets it in the environment.' }),
    value: Type.String({ description: 'JSON; a secret that is set is masked.' }),
    from: Type.Enum(['default', 'file', 'env'], {
      description: 'Where the value comes from: a default, the file of settings, or the environment.',
    }),
    source: Type.String({ description: 'The file or the name in the environment; empty for a default.' }),
    description: Type.String({ description: 'What it does.' }),
    allowed: Type.String({ description: 'Values that it takes, as text for people.' }),
    secret: Type.Boolean({ description: 'True for a secret, whose value is masked.' }),
  },
  { title: 'Setting' },
)

const Address = Type.String({ description: 'Without a slash at its end.' })
const Edge = Type.Object(
  {
    name: Type.String({ description: 'Name of the gateway.' }),
    endpoint: described(Address, 'URL of the gateway, without a slash at its end.'),
    tags: Type.Array(text, { description: 'Of these an API has one that it loads; empty: it loads every API.' }),
  },
  { title: 'GatewayEdge' },
)

/** The settings of this process, read-only: they are changed at their source, and by a restart. */
export function settingRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/system/settings',
      access: { permission: 'system', intent: 'read' },
      summary: 'List every setting with its value and where the value comes from; secrets are masked',
      answers: {
        200: Type.Object({
          version: Type.String({ description: 'Version of the product.' }),
          settings: Type.Array(Setting, { description: 'All settings, in the order of the reference.' }),
        }),
      },
      run: async () => {
        const settings = parts.settings.map(({ shown, origin, ...rest }) => ({
          ...{ ...rest, value: shown },
          ...{ from: origin.from, source: origin.name },
        }))
        return uncached(bare({ version: parts.version, settings }))
      },
    },
    {
      method: 'GET',
      path: '/api/system/address',
      access: 'signed-in',
      summary: 'Get the public address of the gateway and the configured gateways',
      answers: {
        200: Type.Object({
          url: described(Address, 'URL of the gateway, without a slash at its end.'),
          edges: Type.Array(Edge, { description: 'Gateways of `dashboard.edge_endpoints`.' }),
        }),
      },
      run: async (call) =>
        bare({
          url: (await gatewayUrl(parts, call)).href.replace(/\/$/, ''),
          edges: edgesOf(parts).map(({ name, endpoint, tags }) => ({ name, endpoint, tags: [...tags] })),
        }),
    },
  ]
}
