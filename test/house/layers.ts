import type { Import, SourceFile } from './tree.ts'

/** Who may import what. A part may always import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  config: ['errors'],
  wire: ['errors'],
  model: ['errors'],
  runtime: ['errors', 'model'],
  ports: ['errors', 'model'],
  store: ['errors', 'model', 'runtime', 'ports'],
  'store/*': ['errors', 'model', 'runtime', 'ports', 'store'],
  publish: ['errors', 'model', 'runtime', 'ports'],
  oauth: ['errors', 'model', 'runtime', 'ports', 'publish'],
  gateway: ['errors', 'model', 'runtime', 'ports', 'publish', 'oauth', 'wire'],
  dashboard: ['errors', 'model', 'runtime', 'ports', 'publish', 'oauth'],
  compose: [
    'errors',
    'model',
    'runtime',
    'ports',
    'publish',
    'oauth',
    'wire',
    'config',
    'gateway',
    'dashboard',
    'store',
    'store/*',
  ],
  cli: ['errors', 'model', 'runtime', 'ports', 'publish', 'oauth', 'config', 'gateway', 'dashboard', 'compose'],
  main: ['errors', 'config', 'compose', 'cli'],
}
/** Types cost nothing at run time: the settings are read in one place, and their type is known where they are used. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = { gateway: ['config'], dashboard: ['config'] }

/** The embedded store counts in memory, as the memory adapter does, and saves quotas: one limiter, not two. */
const ADAPTER_MAY_IMPORT: Readonly<Record<string, string>> = { 'store/sqlite': 'store/memory' }

/** The commands that move objects run beside a dashboard anywhere, of this version or another. */
const OVER_HTTP = 'src/cli/moves/'

const WRITES = /^src\/gateway\/(?:admin\/|server\/gateway\.ts$)/

/** Folders of `src/store` that all adapters use; every other one is an adapter. */
const OF_ALL_ADAPTERS = new Set(['prepare', 'hits', 'secrets'])

/** Packages that one part alone may use. */
const FENCES: Readonly<Record<string, (path: string) => boolean>> = {
  fastify: (path) => path.startsWith('src/dashboard/'),
  '@scalar/fastify-api-reference': (path) => path === 'src/dashboard/system/docs-routes.ts',
  maxmind: (path) => path === 'src/gateway/record/geography.ts',
  nodemailer: (path) => path === 'src/dashboard/server/mail.ts',
  otpauth: (path) => path.startsWith('src/dashboard/sign-in/'),
  '@simplewebauthn/server': (path) => path.startsWith('src/dashboard/sign-in/'),
  '@peculiar/asn1-schema': (path) => path.startsWith('src/model/certificates/'),
  '@peculiar/asn1-x509': (path) => path.startsWith('src/model/certificates/'),
  pg: (path) => path.startsWith('src/store/postgres/'),
  '@redis/client': (path) => path.startsWith('src/store/redis/'),
  'node:sqlite': (path) => path.startsWith('src/store/sqlite/') || path.startsWith('src/store/local-copy/'),
  ...Object.fromEntries(
    ['api', 'exporter-metrics-otlp-http', 'exporter-trace-otlp-http', 'resources', 'sdk-metrics', 'sdk-trace'].map(
      (name) => [`@opentelemetry/${name}`, (path: string) => path.startsWith('src/gateway/telemetry/')],
    ),
  ),
  // Frames are written by hand; tests speak to them with it.
  'node:http2': () => false,
  'openid-client': (path) => path.startsWith('src/dashboard/single-sign-on/'),
  '@node-saml/node-saml': (path) => path.startsWith('src/dashboard/single-sign-on/'),
  ldapts: (path) => path.startsWith('src/dashboard/single-sign-on/'),
  bcryptjs: (path) => path === 'src/model/passwords/passwords-bcrypt-thread.ts',
  pino: (path) => path === 'src/process/log.ts',
}

/** The part that a file below `src` belongs to: a folder, an adapter (`store/sqlite`), or what puts them together. */
export function partOf(path: string): string {
  const [, first = '', second = '', third] = path.split('/')
  if (second === '') return first === 'main.ts' ? 'main' : 'compose'
  if (first === 'process') return 'compose'
  if (first !== 'store') return first
  if (third === undefined || OF_ALL_ADAPTERS.has(second)) return 'store'
  return second === 'ports' ? 'ports' : `store/${second}`
}

/** Imports between parts that the order of the parts does not allow. */
export function checkLayers(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap((file) => file.imports.flatMap((use) => checkUse(file, use)))
}

function checkUse(file: SourceFile, use: Import): string[] {
  if (use.target === undefined) return checkFence(file, use)
  const [from, to] = [partOf(file.path), partOf(use.target)]
  const where = `${file.path}:${use.line}`
  if (!use.target.startsWith('src/')) return isManifest(use) ? [] : [`${where} reaches out of src: ${use.specifier}`]
  if (!(kind(from) in MAY_IMPORT)) return [`${file.path} is in a part that the house does not know: ${from}`]
  if (file.path.startsWith(OVER_HTTP) && !['errors', 'model', 'cli'].includes(to))
    return [`${where} speaks to a dashboard over HTTP alone, and must not import ${to}`]
  if (from === to || ADAPTER_MAY_IMPORT[from] === to) return []
  if (MAY_IMPORT[kind(from)]!.includes(kind(to)) && kind(from) !== kind(to)) return checkPublish(file, use, to)
  if (use.typeOnly && MAY_IMPORT_TYPES[from]?.includes(to)) return []
  return [`${where} ${from} must not import ${to}`]
}

const kind = (part: string) => (part.startsWith('store/') ? 'store/*' : part)
const isManifest = (use: Import) => use.form === 'thread' && use.specifier.endsWith('/package.json')

/** Of the gateway, only its administration writes documents, and `server/gateway.ts` puts it together. */
function checkPublish(file: SourceFile, use: Import, to: string): string[] {
  const allowed = to !== 'publish' || partOf(file.path) !== 'gateway' || WRITES.test(file.path)
  return allowed || use.typeOnly ? [] : [`${file.path}:${use.line} gateway writes documents only in gateway/admin`]
}

function checkFence(file: SourceFile, use: Import): string[] {
  const name = packageName(use.specifier)
  const fence = FENCES[name]
  return fence === undefined || fence(file.path) ? [] : [`${file.path}:${use.line} must not use ${name}`]
}

/** `ajv/dist/2020.js` is ajv, `@fastify/cookie` is fastify's. */
function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const [first = '', second = ''] = specifier.split('/')
  if (first === '@fastify') return 'fastify'
  return first.startsWith('@') ? `${first}/${second}` : first
}

/** Packages that `src` imports and package.json does not list under `dependencies`. */
export function checkDependencies(files: readonly SourceFile[], dependencies: readonly string[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ target, specifier }) => target === undefined && !specifier.startsWith('node:'))
        .filter(({ specifier }) => !dependencies.some((name) => specifier === name || specifier.startsWith(`${name}/`)))
        .map(({ specifier, line }) => `${path}:${line} imports ${specifier}, which is no dependency`),
    )
}
