import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { loadConfig } from '../src/config/load.ts'
import { SETTINGS, type Setting } from '../src/config/settings.ts'
import { productVersion } from '../src/config/version.ts'
import { openapiOf } from '../src/dashboard/openapi/openapi.ts'
import { allRoutes } from '../src/dashboard/routes/routes.ts'
import { dashboardServices } from '../src/dashboard/server/compose-services.ts'
import type { DashboardInputs } from '../src/dashboard/server/parts.ts'
import { CATALOG, catalogEntry, type FaultCode } from '../src/errors/catalog.ts'
import { CAUSES } from '../src/errors/causes.ts'
import type { AdminParts } from '../src/gateway/admin/parts.ts'
import { adminCalls } from '../src/gateway/admin/routes.ts'
import { adminOpenapiOf } from '../src/gateway/admin-openapi/admin-openapi.ts'
import type { JsonObject } from '../src/model/json/json.ts'
import type { ScalarFields } from '../src/model/json/scalar-fields.ts'
import { silentLog } from '../src/model/logs/log.ts'
import { METRICS, type MetricName, metricEntry } from '../src/model/metrics/catalog.ts'
import { POLICY_FIELDS } from '../src/model/policies/policy-fields.ts'
import { DEVELOPER_FIELDS } from '../src/model/portal/developers/developer-fields.ts'
import { systemClock } from '../src/model/time/clock.ts'
import { API_EVENT_NAMES, apiEventRow } from '../src/model/webhooks/api-events.ts'
import { KeyedMutex } from '../src/runtime/keyed-mutex.ts'
import { openMemoryStore } from '../src/store/memory/open.ts'
import { clientTables } from '../test/clients/runner/page.ts'
import { CONFORMANCE } from '../test/oauth/conformance/table.ts'
import { DIFFERENCES } from '../test/worlds/incumbent/differences.ts'
import { renderChart } from './chart.ts'
import { definitionMemberTables } from './definition-members.ts'
import { callSections, commandSections, objectPages, schemaFiles } from './reference.ts'

const SEAL_KEY = "$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=')"
const WRITTEN_BY = '<!-- Written by `npm run docs`. Do not edit. -->'

/** Pages that are written from the code: path from the root of the project, and text. */
export function generatedPages(): Map<string, string> {
  return new Map([
    ['docs/generated/clients.md', clientsPage()],
    ['docs/generated/config.md', configPage()],
    ['docs/generated/definition-members.md', definitionMembersPage()],
    ['docs/generated/errors.md', errorsPage()],
    ['docs/generated/differences.md', differencesPage()],
    ['docs/generated/events.md', eventsPage()],
    ['docs/generated/metrics.md', metricsPage()],
    ['docs/generated/oauth-conformance.md', conformancePage()],
    ['docs/generated/openapi.json', openapiFile()],
    ['docs/generated/svc-openapi.json', adminOpenapiFile()],
    ['docs/reference/svc-calls.md', page('Calls of the gateway (/svc/)', callsPage(adminOpenapiFile(), true))],
    ['docs/reference/dashboard-calls.md', page('Calls of the dashboard', callsPage(openapiFile(), false))],
    ['docs/reference/cli.md', page('Commands', commandSections())],
    ...[...objectPages()].map(([file, { title, parts }]) => [`docs/reference/${file}.md`, page(title, parts)] as const),
    ...[...schemaFiles()].map(([file, text]) => [`docs/reference/${file}.schema.json`, text] as const),
    ['console/src/api/calls/record-fields.ts', fieldsModule()],
    ['deploy/kubernetes.yaml', manifests()],
  ])
}

/** The chart with its default values, for those who do not use Helm. */
function manifests(): string {
  const keys = ['postgres-url=postgres://...', 'redis-url=rediss://...', `seal-key=${SEAL_KEY}`]
  const all = [...keys, 'gateway-secret=...', 'admin-secret=...', 'metrics-secret=...']
  const lines = all.map((each) => `#     --from-literal=${each}`).join(' \\\n')
  return `# Written by \`npm run docs\` from deploy/helm/gatehouse. Do not edit.
# Gateways and dashboards of a cluster; PostgreSQL and Redis or Valkey are elsewhere. Make the secret first:
#   kubectl create secret generic gatehouse \\
${lines}
${renderChart('gatehouse', {}, 'kubectl')}`
}

/** The differences that the replay of recorded requests accepts (`test/incumbent`). */
function differencesPage(): string {
  const section = (open: boolean) =>
    DIFFERENCES.filter((row) => (row.open ?? false) === open)
      .map(({ name, there, here, why }) => `| ${[name, there, here, why].map(cell).join(' | ')} |\n`)
      .join('')
  const head = '| what | there | here | why |\n| --- | --- | --- | --- |\n'
  return `${WRITTEN_BY}

# Differences from the incumbent

For those who [move definitions, keys and clients](../reference/import.md). Requests that were recorded beside the incumbent's gateway 5.8.6 are replayed by
\`test/incumbent\`: for each, the same upstream gets the same request and the caller the same status, or a row of this page says why not. Rows about credentials that run
out have tests of their own.

## For good

${head}${section(false)}
## To be served as there

${head}${section(true)}`
}

/** The cases of `npm run test:clients`, which fails where they are not those that passed. */
function clientsPage(): string {
  return page('Foreign clients that are tested', [
    'What `npm run test:clients` runs against the product: libraries that nobody of this project wrote, at the versions that are pinned in `test/clients`. What some of them need to be told: [clients](../reference/client-libraries.md).',
    clientTables().trimEnd(),
  ])
}

/** Statements of RFCs, each of which is a test (`test/oauth/conformance`). */
function conformancePage(): string {
  const rows = CONFORMANCE.flatMap(({ rows: own }) => own)
  const decided = rows.filter((row) => row.decided !== undefined).length
  const sections = CONFORMANCE.map(({ rfc, title, rows: own }) => {
    const lines = own.map(({ section, level, says, decided = '' }) => [section, level, says, decided])
    return `## RFC ${rfc}: ${title}\n\n${table(['section', 'level', 'statement', 'decided otherwise'], lines)}`
  })
  return page('OAuth, statement by statement', [
    `${rows.length} statements of ${CONFORMANCE.length} RFCs that concern an authorization server, a resource server or their metadata. Each is a test in ` +
      '`test/oauth/conformance` that asks the running product over HTTP. "states" are sentences without a word of RFC 2119. Where the last column ' +
      `says something (${decided} times), the statement is not followed or not ours to follow, and the test shows what happens instead.`,
    ...sections,
  ])
}

const cell = (text: string) => text.replaceAll('|', '\\|')

/** The fields of records that are one value each, as types of the console. */
function fieldsModule(): string {
  const types = { flag: 'boolean', number: 'number', integer: 'number', text: 'string' } as const
  const records: Readonly<Record<string, ScalarFields>> = {
    DeveloperFields: DEVELOPER_FIELDS,
    PolicyFields: POLICY_FIELDS,
  }
  const interfaces = Object.entries(records).map(([name, fields]) => {
    const members = Object.entries(fields).map(([member, { kind }]) => `  readonly ${member}: ${types[kind]}\n`)
    return `\nexport interface ${name} {\n${members.join('')}}\n`
  })
  return `// Written by \`npm run docs\` from the tables of fields in src/model. Do not edit.\n${interfaces.join('')}`
}

/** The routes are only declared, not called: the store stays empty. */
function openapiFile(): string {
  const { config } = loadConfig({ env: {}, cwd: import.meta.dirname })
  const store = openMemoryStore()
  const { documents, tokens, counters } = store
  const inputs: DashboardInputs = {
    ...{ store, documents, tokens, counters, config, log: silentLog, clock: systemClock },
    sealKey: new Uint8Array(32),
    adminSecrets: () => [],
    version: productVersion(),
    settings: [],
    defaultOrg: () => '',
    locks: new KeyedMutex(),
    settled: async () => {},
  }
  const parts = { ...inputs, ...dashboardServices(inputs) }
  const text = JSON.stringify(openapiOf(allRoutes(parts), parts.version), null, 1)
  void store.close()
  return `${text}\n`
}

/** As above: nothing but the table of calls is read. */
function adminOpenapiFile(): string {
  const { config } = loadConfig({ env: {}, cwd: import.meta.dirname })
  const store = openMemoryStore()
  const { documents } = store
  const parts = { config, store, documents, sealKey: new Uint8Array(32), clock: systemClock, defaultOrg: () => '' }
  const text = JSON.stringify(adminOpenapiOf(adminCalls(parts as unknown as AdminParts), productVersion()), null, 1)
  void store.close()
  return `${text}\n`
}

function callsPage(document: string, withBodies: boolean): string[] {
  const { info, ...rest } = JSON.parse(document) as JsonObject
  return [String((info as JsonObject).description), ...callSections({ info: info!, ...rest }, withBodies)]
}

function configPage(): string {
  const roots = [...new Set(SETTINGS.map(({ segments }) => (segments.length > 1 ? segments[0]! : '')))]
  const sections = roots.map((root) => {
    const settings = SETTINGS.filter(({ segments }) => (segments.length > 1 ? segments[0] : '') === root)
    return `## ${root === '' ? 'Others' : `\`${root}\``}\n\n${table(['setting', 'environment', 'default', 'allowed', 'what it does'], settings.map(settingRow))}`
  })
  return page('Settings', [
    'How settings are given, and which source wins: [configuration](../reference/configuration.md).',
    ...sections,
  ])
}

function settingRow(setting: Setting): string[] {
  const environment = setting.secret ? `\`${setting.env}\` or \`${setting.env}_FILE\`` : `\`${setting.env}\``
  const value = `\`${JSON.stringify(setting.default)}\``
  return [`\`${setting.path}\``, environment, value, setting.allowed, setting.description]
}

function errorsPage(): string {
  const rows = (Object.keys(CATALOG) as FaultCode[]).map((code) => {
    const { status, legacy, log, text } = catalogEntry(code)
    return [
      `\`${code}\``,
      legacy === undefined ? String(status) : `${status} (legacy ${legacy})`,
      text,
      ...CAUSES[code],
      log === 'silent' ? '' : log,
    ]
  })
  return page('Errors', [
    'Every refusal, from `src/errors/catalog.ts`, with its usual cause and what to do. "Legacy" is the status under `compat.legacy_statuses` where it differs. ' +
      '"Log" is the level of the log line that a refusal writes, if any. `bin/gatehouse explain URL` shows the code of a refusal.',
    table(['code', 'status', 'text', 'cause', 'what to do', 'log'], rows),
  ])
}

function definitionMembersPage(): string {
  const tables = definitionMemberTables().map(({ title, head, rows }) => `## ${title}\n\n${table(head, rows)}`)
  return page('Members of definitions without effect', [
    'Members that this gateway knows and does not serve, from the schemas and tables of `src/model/apis`. A save refuses the first kind where it asks for ' +
      'something (switched off it asks for nothing); the second kind is kept and named in `warnings` of the answer, the node status and the log, as are members ' +
      'that nothing knows. `*` stands for every name or entry.',
    ...tables,
  ])
}

function eventsPage(): string {
  const rows = API_EVENT_NAMES.map((name) => {
    const { when, refusals = [] } = apiEventRow(name)
    return [`\`${name}\``, when, refusals.map((code) => `\`${code}\``).join(', ')]
  })
  return page('Events', [
    'What happens at an API and its handlers and webhooks can be told of, from `src/model/webhooks/api-events.ts`. ' +
      'How they are told: [observation](../reference/observability.md#events). "Errors" are the refusals that raise it ([errors](errors.md)).',
    table(['event', 'when', 'errors'], rows),
  ])
}

function metricsPage(): string {
  const rows = (Object.keys(METRICS) as MetricName[]).map((name) => {
    const { kind, help, labels = [], part = 'both', only = '' } = metricEntry(name)
    return [`\`${name}\``, kind, labels.map((label) => `\`${label}\``).join(', '), help, part, only]
  })
  return page('Metrics', [
    'Every metric of `/metrics`, from `src/model/metrics/catalog.ts`. How to scrape, and what to watch: [monitoring](../operate/monitoring.md).',
    table(['metric', 'type', 'labels', 'what it tells', 'part', 'when'], rows),
  ])
}

function page(title: string, parts: readonly string[]): string {
  return `${[`# ${title}`, WRITTEN_BY, ...parts].join('\n\n')}\n`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function writeAll(): void {
  const root = join(import.meta.dirname, '..')
  for (const [path, text] of generatedPages()) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    console.log(`wrote ${path}`)
  }
}

if (import.meta.main) writeAll()
