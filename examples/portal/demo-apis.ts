// The APIs, policies and documentation of the demonstration.

/** Requests an hour that a key for the weather may make. */
export const WEATHER_QUOTA = 20

type Members = Readonly<Record<string, unknown>>

const KEY = { key: { type: 'apiKey', in: 'header', name: 'Authorization' } }

const words = (schema: Members, description: string) => ({ description, content: { 'application/json': schema } })

const place = { name: 'place', in: 'path', required: true, schema: { type: 'string' }, description: 'Name of a town.' }

/** The weather API, as its developers read it. */
export const WEATHER = {
  openapi: '3.0.3',
  info: {
    title: 'Weather',
    version: '1.4',
    description: 'Observations and forecasts of **all larger towns**, four times an hour.',
  },
  tags: [{ name: 'Observations' }, { name: 'Alerts' }],
  paths: {
    '/now/{place}': {
      parameters: [place],
      get: {
        operationId: 'now',
        summary: 'The weather of a town',
        tags: ['Observations'],
        parameters: [
          {
            name: 'units',
            in: 'query',
            schema: { type: 'string', enum: ['metric', 'imperial'] },
            description: 'Celsius or Fahrenheit.',
          },
        ],
        responses: {
          200: words({ example: { place: 'Lisbon', celsius: 24, sky: 'clear' } }, 'What it is like now.'),
          404: { description: 'Nobody measures there.' },
          429: { description: 'Your key has made all the requests that it may.' },
        },
      },
    },
    '/alerts': {
      post: {
        operationId: 'addAlert',
        summary: 'Be told of storms',
        tags: ['Alerts'],
        description: 'The address is called **once** for each storm.',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Alert' } } } },
        responses: { 201: { description: 'You will be told.' } },
      },
    },
    '/alerts/{id}': {
      delete: { summary: 'Be told no more', tags: ['Alerts'], responses: { 204: { description: 'Gone.' } } },
    },
  },
  components: {
    schemas: {
      Alert: {
        type: 'object',
        required: ['place', 'url'],
        properties: {
          place: { type: 'string', description: 'Name of a town.' },
          url: { type: 'string', description: 'Where we call you.' },
          strength: { type: 'integer', description: 'From which wind force on.' },
        },
      },
    },
  },
}

const PARCELS = {
  openapi: '3.0.3',
  info: { title: 'Parcels', version: '2.0' },
  paths: {
    '/parcels/{id}': { get: { summary: 'Where a parcel is', responses: { 200: { description: 'Its state.' } } } },
  },
}

/** The OpenAPI documents of a gatehouse: what is public, and how the gateway serves it. `loginUrl`: where people of apps sign in. */
export function definitions(upstream: string, loginUrl: string): object[] {
  const served = (id: string, document: Members, path: string, authentication: Members) => ({
    ...document,
    'x-svc-api-gateway': {
      info: { id, name: (document.info as { title: string }).title, state: { active: true } },
      upstream: { url: upstream + path },
      server: { listenPath: { value: `/${id}/`, strip: true }, authentication },
      // without it nobody's requests are counted
      middleware: { global: { trafficLogs: { enabled: true } } },
    },
  })
  const keyed = (document: Members) => ({
    ...document,
    components: { ...(document.components as Members | undefined), securitySchemes: KEY },
    security: [{ key: [] }],
  })
  const byKey = { enabled: true, securitySchemes: { key: { enabled: true } } }
  const scopes = { 'orders:read': 'See orders' }
  const flows = {
    clientCredentials: { tokenUrl: '/oauth/token', scopes },
    authorizationCode: { authorizationUrl: '/oauth/authorize', tokenUrl: '/oauth/token', scopes },
  }
  const byToken = { enabled: true, allowedAuthorizeTypes: ['code'], authLoginRedirect: loginUrl, refreshToken: true }
  const orders = {
    openapi: '3.0.3',
    info: { title: 'Orders', version: '1.0' },
    paths: {},
    components: { securitySchemes: { oauth: { type: 'oauth2', flows } } },
    security: [{ oauth: [] }],
  }
  const status = { openapi: '3.0.3', info: { title: 'Status', version: '1.0' }, paths: {} }
  return [
    served('weather', keyed(WEATHER), '/weather/', byKey),
    served('parcels', keyed(PARCELS), '/parcels/', byKey),
    served('orders', orders, '/orders/', { enabled: true, securitySchemes: { oauth: byToken } }),
    served('status', status, '/status/', { enabled: false }),
  ]
}

/** The rights of keys and apps. */
export const POLICIES = [
  policy('weather', { rate: 1000, per: 60, quota_max: WEATHER_QUOTA, quota_renewal_rate: 3600 }),
  policy('parcels', { rate: 60, per: 60 }),
  policy('orders', { rate: 60, per: 60 }),
]

function policy(id: string, limits: Members): object {
  const access_rights = { [id]: { api_id: id, versions: ['Default'] } }
  return { id, name: id, active: true, quota_max: -1, ...limits, access_rights }
}

/** The entries of the catalogue. `documentation`: id of the stored documentation of the weather. */
export function catalogue(documentation: string): object[] {
  const entry = (name: string, short_description: string, long_description: string, more: Members) => ({
    ...{ name, short_description, long_description, show: true, version: 'v2', api_id: '', policy_id: '' },
    ...more,
  })
  return [
    entry('Weather', 'Observations and forecasts, four times an hour.', WEATHER_TEXT, {
      policy_id: 'weather',
      documentation,
    }),
    entry('Parcels', 'Where a parcel is, from the shelf to the door.', PARCELS_TEXT, {
      policy_id: 'parcels',
      config: { override: true, require_key_approval: true, key_request_fields: ['Company', 'What for'] },
    }),
    entry('Orders', 'Orders of your customers, for apps that they allow.', ORDERS_TEXT, { policy_id: 'orders' }),
    entry('Status', 'Which of our systems are well.', 'No key, no limits. Ask as often as you like.', {
      api_id: 'status',
    }),
  ]
}

const WEATHER_TEXT = `The weather of **all larger towns**, as our stations see it.

## Begin

1. Get a key.
2. Send it as \`Authorization\`.

\`\`\`sh
curl -H "Authorization: $KEY" https://api.example/weather/now/Lisbon
\`\`\`

| Plan | Requests |
| --- | --- |
| Free | ${WEATHER_QUOTA} an hour |
| More | [ask us](mailto:api@example.test) |
`
const PARCELS_TEXT = 'For shops that send with us. We look at every request, usually **within a day**.'
const ORDERS_TEXT = `Your app gets a **client id** and a **client secret**, and with them tokens:

\`\`\`sh
curl -u "$CLIENT_ID:$SECRET" -d grant_type=client_credentials https://api.example/orders/oauth/token
\`\`\`
`
