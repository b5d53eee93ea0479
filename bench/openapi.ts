import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dump } from 'js-yaml'
import { measureH2 } from './h2load.ts'
import { largeDocument } from './large-document.ts'
import { startUpstream } from './peers.ts'
import { openDefinition, type Product, startProduct } from './product.ts'
import { median, progress, show, table } from './report.ts'
import { sized } from './sizes.ts'

const DOCUMENT_BYTES = sized(13_000_000, 500_000)
/** The text of a document in YAML, of one in JSON. */
const YAML_GROWTH = 1.31
const BODY_BYTES = 2000
const CONNECTIONS = 8
const WARM_UP_SECONDS = 3
/** Bounds of issue 25. */
const MOST_IMPORT_SECONDS = 5
const MOST_PEAK_BYTES = 400e6
const MOST_CHECK_MICROS = 60
const LEAST_SHARE = 0.97

export interface OpenapiOptions {
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

interface Imported {
  readonly name: string
  readonly bytes: number
  readonly seconds: number
  /** Resident memory before, and the most of it meanwhile. */
  readonly idleBytes: number
  readonly peakBytes: number
}

/**
 * Documents of 13 MB imported with checks of all requests; the cost of checking a body of 2 kB; and requests of an API without checks on a
 * gateway that has such a document and on one that has not. A file named by BENCH_DOCUMENT (JSON or YAML) is imported too. Answers its part
 * of the report. @throws Error on a bad answer
 */
export async function openapiChecks(options: OpenapiOptions): Promise<string> {
  const texts = new Map([
    ['JSON', JSON.stringify(largeDocument(DOCUMENT_BYTES))],
    ['YAML', dump(largeDocument(DOCUMENT_BYTES / YAML_GROWTH), { lineWidth: -1, noRefs: true })],
  ])
  const own = process.env.BENCH_DOCUMENT
  if (own !== undefined) texts.set('BENCH_DOCUMENT', readFileSync(own, 'utf8'))
  const upstream = await startUpstream(join(options.folder, 'upstream'))
  const products: Product[] = []
  try {
    const imported: Imported[] = []
    for (const [name, text] of texts) {
      const product = await startIn(join(options.folder, name))
      products.push(product)
      imported.push(await importOnce(name, product, text, upstream.port))
      if (name !== 'JSON') await product.started.stop()
    }
    const bare = await startIn(join(options.folder, 'bare'))
    products.push(bare)
    const [loaded] = products as [Product]
    for (const product of [loaded, bare]) {
      await product.admin.call('POST', '/apis/oas', openDefinition('plain', upstream.port))
      await product.admin.call('POST', '/apis/oas', checkedDefinition(upstream.port))
    }
    return report(imported, await measureRequests(options, loaded, bare))
  } finally {
    for (const product of products) await product.started.stop()
    await upstream.started.stop()
  }
}

function startIn(folder: string): Promise<Product> {
  mkdirSync(folder, { recursive: true })
  return startProduct({ folder })
}

async function importOnce(name: string, product: Product, text: string, upstreamPort: number): Promise<Imported> {
  await product.started.settled()
  const idleBytes = product.started.rssBytes()
  product.started.resetPeak()
  progress(`importing ${show(text.length)} characters (${name})`)
  const query = `listenPath=/large/&apiID=large&validateRequest=true&upstreamURL=http://127.0.0.1:${upstreamPort}/`
  const startedAt = performance.now()
  await product.admin.importDocument(`/apis/oas/import?${query}`, text)
  const seconds = (performance.now() - startedAt) / 1000
  return { name, bytes: Buffer.byteLength(text), seconds, idleBytes, peakBytes: product.started.peakBytes() }
}

/** An API whose one operation takes orders: twenty lines, of six members each. */
function checkedDefinition(upstreamPort: number): Record<string, unknown> {
  const base = openDefinition('checked', upstreamPort)
  const line = {
    type: 'object',
    required: ['id', 'count'],
    additionalProperties: false,
    properties: {
      ...{ id: { type: 'integer', minimum: 1 }, count: { type: 'integer', minimum: 1, maximum: 99 } },
      ...{ price: { type: 'number', multipleOf: 0.01 }, name: { type: 'string', minLength: 1, maxLength: 80 } },
      ...{ at: { type: 'string', format: 'date-time' }, kind: { enum: ['book', 'disc', 'game'] } },
    },
  }
  const schema = {
    ...{ type: 'object', required: ['customer', 'lines'] },
    properties: { customer: { type: 'string', pattern: '^[a-z-]{3,40}$' }, lines: { type: 'array', items: line } },
  }
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  const extension = base['x-svc-api-gateway'] as { middleware: object }
  const middleware = { ...extension.middleware, operations: { order: { validateRequest: { enabled: true } } } }
  return {
    ...base,
    paths: { '/orders': { post: { operationId: 'order', requestBody, responses: {} } } },
    'x-svc-api-gateway': { ...extension, middleware },
  }
}

function orderBody(): string {
  const lines: object[] = []
  const whole = () => JSON.stringify({ customer: 'a-customer', lines })
  while (whole().length < BODY_BYTES)
    lines.push({ id: 1, count: 2, price: 19.99, name: 'A book', at: '2026-11-27T10:00:00Z', kind: 'book' })
  return whole()
}

interface Requests {
  /** CPU of the gateway's thread for a request. */
  readonly micros: Record<'checked' | 'plain', number>
  readonly perSecond: Record<'with' | 'without', number>
}

async function measureRequests(
  { folder, seconds, rounds }: OpenapiOptions,
  loaded: Product,
  bare: Product,
): Promise<Requests> {
  const bodyFile = join(folder, 'order.json')
  writeFileSync(bodyFile, orderBody())
  const run = async (product: Product, api: string, during: number) => {
    const before = product.started.mainThreadCpuMs()
    const done = await measureH2(`${product.name}, ${api}`, product.started, {
      ...{ url: `${product.url}/${api}/orders`, seconds: during, connections: CONNECTIONS, streams: 1, http1: true },
      ...{ headers: ['Content-Type: application/json'], bodyFile },
    })
    return { ...done, threadMicros: ((product.started.mainThreadCpuMs() - before) / done.requests) * 1000 }
  }
  const runs = { checked: [], plain: [], with: [], without: [] } as Record<string, number[]>
  for (let round = 0; round <= rounds; round++) {
    const during = round === 0 ? WARM_UP_SECONDS : seconds
    const checked = await run(bare, 'checked', during)
    const plain = await run(bare, 'plain', during)
    const beside = await run(loaded, 'plain', during)
    if (round === 0) continue
    runs.checked!.push(checked.threadMicros)
    runs.plain!.push(plain.threadMicros)
    runs.with!.push(beside.perSecond)
    runs.without!.push(plain.perSecond)
  }
  const middle = (name: string) => median(runs[name]!)
  return {
    micros: { checked: middle('checked'), plain: middle('plain') },
    perSecond: { with: middle('with'), without: middle('without') },
  }
}

function report(imported: readonly Imported[], { micros, perSecond }: Requests): string {
  const cost = micros.checked - micros.plain
  const share = perSecond.with / perSecond.without
  const verdict = (isMet: boolean) => (isMet ? 'yes' : 'NO')
  const rows = [
    ...imported.map(({ name, bytes, seconds }) => [
      ...[`import, ${name}, ${show(bytes / 1e6, 1)} MB`, `${show(seconds, 2)} s`],
      ...[`${MOST_IMPORT_SECONDS} s`, verdict(seconds < MOST_IMPORT_SECONDS)],
    ]),
    ...imported.map(({ name, idleBytes, peakBytes }) => [
      ...[
        `its peak of memory above idle (${show(idleBytes / 1e6)} MB), ${name}`,
        `${show((peakBytes - idleBytes) / 1e6)} MB`,
      ],
      ...[`${show(MOST_PEAK_BYTES / 1e6)} MB`, verdict(peakBytes - idleBytes < MOST_PEAK_BYTES)],
    ]),
    [
      ...[`check of a body of ${show(BODY_BYTES / 1000)} kB, CPU of the gateway's thread`, `${show(cost, 1)} µs`],
      ...[`${MOST_CHECK_MICROS} µs`, verdict(cost < MOST_CHECK_MICROS)],
    ],
    [
      ...['requests of an API without checks, with such a document beside it and without', show(share, 3)],
      ...[String(LEAST_SHARE), verdict(share >= LEAST_SHARE)],
    ],
  ]
  return `## OpenAPI documents

A document of ${show(DOCUMENT_BYTES / 1e6)} MB imported with checks of all requests into an idle installation, all on one core; then POST of
${show(BODY_BYTES)} bytes by \`h2load --h1 -t1 -c${CONNECTIONS}\` to an API that checks it (${show(micros.checked, 1)} µs) and to one that does not
(${show(micros.plain, 1)} µs); and the latter on a gateway that serves the document too (${show(perSecond.with)}/s, without it
${show(perSecond.without)}/s). Medians of interleaved rounds.

${table(['', 'measured', 'bound', 'met'], rows)}`
}
