import { gzipSync } from 'node:zlib'
import fastify from 'fastify'
import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { openapiOf } from '../openapi/openapi.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The reader sets styles by itself, and its icons are data.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SETTINGS = JSON.stringify({
  sources: [
    { title: 'Dashboard API', slug: 'dashboard', url: '/api/openapi.json', default: true },
    { title: 'Administration API of the gateway (/svc/)', slug: 'svc', url: '/api/svc-openapi.json' },
  ],
  showDeveloperTools: 'never',
  withDefaultFonts: false,
  hideClientButton: true,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
})

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse dashboard API</title>
</head>
<body>
<script id="api-reference" data-configuration="${SETTINGS.replaceAll('"', '&quot;')}"></script>
<script src="/api/docs/reader.js"></script>
</body>
</html>
`

/**
 * The description of the API: the document, and a page that shows it. The page's script comes with the package and from here, so that
 * it works without another site.
 */
export function docsRoutes(parts: DashboardParts, routes: () => readonly Route[]): Route[] {
  let document: Answer | undefined
  let administration: Answer | undefined
  const shared = { method: 'GET', access: 'public' } as const
  return [
    {
      ...shared,
      path: '/api/openapi.json',
      summary: 'Get the OpenAPI document of this API',
      answers: {
        200: Type.Object(
          { openapi: Type.String({ description: 'Version of OpenAPI.' }) },
          { title: 'ApiDescription', additionalProperties: true },
        ),
      },
      run() {
        document ??= bare(openapiOf(routes(), parts.version))
        return document
      },
    },
    {
      ...shared,
      path: '/api/svc-openapi.json',
      summary: 'Get the OpenAPI document of the administration API of the gateway',
      refusals: [404],
      answers: {
        200: Type.Object(
          {
            openapi: Type.String({ description: 'Version of OpenAPI.' }),
            tags: Type.Array(Type.Object({}, { additionalProperties: true }), {
              description: 'Groups of calls, in the order of use.',
            }),
          },
          { title: 'AdministrationDocument', additionalProperties: true },
        ),
      },
      async run() {
        if (parts.adminDocument === undefined) throw fault('not_found')
        administration ??= bare(await parts.adminDocument())
        return administration
      },
    },
    {
      ...shared,
      path: '/api/docs',
      summary: 'Read the API documentation as a web page',
      answers: { 200: Type.String() },
      answerType: 'text/html',
      run: () => ({
        status: 200,
        body: PAGE,
        type: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': PAGE_POLICY },
      }),
    },
    {
      ...shared,
      path: '/api/docs/reader.js',
      summary: 'Get the script of the API documentation',
      answers: { 200: Type.String() },
      answerType: 'text/javascript',
      run: readerAnswer,
    },
  ]
}

/** Module state: a cache of immutable values: a script from the package, read once. */
let reader: Promise<Uint8Array> | undefined

async function readerAnswer(call: Call): Promise<Answer> {
  reader ??= loadReader()
  const script = await reader
  const zipped = /\bgzip\b/.test(call.header('accept-encoding') ?? '')
  return {
    status: 200,
    body: zipped ? gzipped(script) : script,
    type: 'text/javascript; charset=utf-8',
    headers: {
      'cache-control': 'public, max-age=3600',
      vary: 'accept-encoding',
      ...(zipped && { 'content-encoding': 'gzip' }),
    },
  }
}

/** Four megabytes that few ask for: loaded when the first does, through the only door that the package has. */
async function loadReader(): Promise<Uint8Array> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(apiReference, { routePrefix: '/', configuration: { url: '/' } })
  const { rawPayload } = await server.inject('/js/scalar.js')
  await server.close()
  return rawPayload
}

/** Module state: a cache of immutable values: the same script, compressed. */
let zippedReader: Uint8Array | undefined

function gzipped(script: Uint8Array): Uint8Array {
  zippedReader ??= gzipSync(script)
  return zippedReader
}
