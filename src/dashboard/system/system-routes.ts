import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { isUp, loadsHere, type NodeStatus, nodeWarnings } from '../../model/nodes/node.ts'
import { isDay } from '../../model/time/date-time.ts'
import { findNode, listNodes, nodeDocumentId } from '../../publish/nodes/node-status.ts'
import { metricsPage } from '../../runtime/render-metrics.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import { DoneEnvelope, OkStatus, OutcomeText } from '../routes/envelope.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { day, moment } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const text = Type.String()
const Counts = Type.Array(
  Type.Object({
    date: day('Day in UTC.'),
    count: Type.Integer({ description: 'Number on that day.' }),
  }),
)
const Stats = Type.Object(
  {
    status: Type.Literal('Success', { description: 'Always `Success`.' }),
    message: Type.String({ description: 'Always blank.' }),
    stats: Type.Object(
      {
        apis: described(Counts, 'Number of APIs, today alone.'),
        dataplanes: described(Counts, 'Always 0: there are no data planes apart.'),
        dataplanes_gateways: described(Counts, 'Number of gateway nodes, today alone.'),
      },
      { description: 'Counts by what is counted.' },
    ),
  },
  { title: 'SystemStats' },
)
const Load = Type.Object(
  {
    requests_per_second: Type.Number({
      description: 'Requests per second, averaged over the last ten to thirty seconds.',
    }),
    connections: Type.Integer({ description: 'Number of connections of clients.' }),
    busy: Type.Number({ description: 'Share of that time in which its event loop was at work: 0 to 1.' }),
    memory_bytes: Type.Integer({ description: 'Resident memory of the whole process, in bytes.' }),
  },
  { title: 'NodeLoad', description: 'As of `last_seen`; absent while the node is not heard of.' },
)
const Nodes = Type.Object(
  {
    data: Type.Object(
      {
        nodes: Type.Array(
          Type.Object({
            ...{
              id: Type.String({ description: 'Id of the node, for `/api/system/node/{node_id}/{hostname}`.' }),
              hostname: Type.String({ description: 'Host name of the machine.' }),
              name: Type.String({ description: 'Name of the node (`gateway.node_name`, else the host name).' }),
              version: Type.String({ description: 'Version of the product.' }),
              tags: Type.Array(text, { description: 'Tags of the APIs that the node loads, where it is segmented.' }),
            },
            ...{
              segmented: Type.Boolean({ description: 'True: the node loads only APIs with one of its tags.' }),
              active: Type.Boolean({ description: 'True while the node is heard of.' }),
              last_seen: moment('Time at which it was last heard of (RFC 3339).'),
              started_at: moment('Time of its start (RFC 3339).'),
            },
            ...{
              loaded: Type.Integer({ description: 'Number of APIs that it serves.' }),
              troubled: Type.Integer({ description: 'Number of APIs that it does not serve as stored.' }),
              behind: Type.Boolean({ description: 'True while it cannot read changes from the store.' }),
              management: Type.Boolean({
                description: 'True for a node that administers and takes no traffic (`gateway.management_node`).',
              }),
            },
            load: Type.Optional(Load),
          }),
          { description: 'Gateway nodes of the page.' },
        ),
        active_node_count: Type.Integer({ description: 'Number of nodes that are heard of.' }),
        nodes_available: Type.Integer({ description: 'Always -1: without bound.' }),
        nodes_remaining: Type.Integer({ description: 'Always -1: without bound.' }),
        valid_until: Type.Integer({ description: 'Unix seconds: the last second of the year 9999, as nothing ends.' }),
      },
      { description: 'Nodes, and how many there may be.' },
    ),
  },
  { title: 'NodePage' },
)
const Placement = Type.Object(
  {
    nodes: Type.Array(
      Type.Object({
        node: Type.String({ description: 'Name of the node.' }),
        loads: Type.Boolean({ description: 'True where the node would load the API.' }),
        reason: Type.String({ description: 'Why, as text for people.' }),
      }),
      { description: 'Gateway nodes that are heard of.' },
    ),
    warnings: Type.Array(text, { description: 'Where nodes contradict each other.' }),
  },
  { title: 'Placement' },
)
const Node = Type.Object(
  {
    data: Type.Object(
      {
        db_app_conf_options: Type.Object(
          {
            node_is_segmented: Type.Boolean({ description: 'True: the node loads only APIs with one of its tags.' }),
            tags: Type.Array(text, { description: 'Tags of the APIs that the node loads, where it is segmented.' }),
          },
          { title: 'NodePlacement', description: 'Which APIs the node loads.' },
        ),
        management_node: Type.Boolean({
          description: 'True for a node that administers and takes no traffic (`gateway.management_node`).',
        }),
        hostname: Type.String({ description: 'Host name of the machine.' }),
        version: Type.String({ description: 'Version of the product.' }),
      },
      { description: 'Configuration of the node.' },
    ),
  },
  { title: 'NodeConfiguration' },
)
const Licence = Type.Object(
  {
    Status: OkStatus,
    Message: OutcomeText,
    Meta: Type.Object(
      {
        valid_until: Type.Integer({ description: 'Unix seconds: the last second of the year 9999, as nothing ends.' }),
        nodes_available: Type.Integer({ description: 'Always -1: without bound.' }),
        entitlements: Type.Object({}, { description: 'Always an empty object: nothing is limited.' }),
      },
      { title: 'LicenceTerms', description: 'Terms of the licence: nothing is limited.' },
    ),
  },
  { title: 'Licence' },
)

const READ = { permission: 'system', intent: 'read' } as const
const ENTITIES = ['apis', 'dataplanes', 'dataplanes.gateways'] as const
const UNBOUNDED = -1
/** The last second of the year 9999: nothing ends. */
const NEVER_S = 253_402_300_799

/** The gateways and how much there is of what: `/api/system`. Nothing is limited, and the calls that ask about that say so. */
export function systemRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/system/stats',
      access: READ,
      summary: 'Count APIs and gateways now; earlier counts are not stored',
      refusals: [404],
      query: { start_day: day(), end_day: day(), resolution: Type.Enum(['day']), entity: Type.Enum([...ENTITIES]) },
      answers: { 200: Stats },
      run: (call) => stats(parts, call),
    },
    {
      method: 'GET',
      path: '/api/system/nodes',
      access: READ,
      summary: 'List gateway nodes',
      query: { p: Type.Integer() },
      answers: { 200: Nodes },
      run: async (call) => nodes(await listNodes(parts), parts.clock.wall(), call),
    },
    {
      method: 'GET',
      path: '/api/system/placement',
      access: READ,
      summary: 'List the gateway nodes that would load an API with these tags, with reasons',
      query: {
        tags: Type.String({ maxLength: 4096, description: 'Separated by commas; none = an API without tags.' }),
      },
      answers: { 200: Placement },
      run: async (call) => placement(await listNodes(parts), parts.clock.wall(), call.query('tags')),
    },
    {
      method: 'GET',
      path: '/api/system/node/{node_id}/{hostname}',
      access: READ,
      summary: 'Read the configuration of a gateway node',
      answers: { 200: Node },
      run: async (call) => {
        const id = call.param('node_id')
        const found = isDocumentId(id) ? await findNode(parts, id) : undefined
        if (found === undefined || found.hostname !== call.param('hostname')) throw fault('not_found', 'Node not found')
        return bare({ data: settingsOf(found) })
      },
    },
    ...['/api/licence', '/api/license'].map(licence),
    {
      method: 'POST',
      path: '/license',
      access: 'public',
      body: Type.Object({}, { additionalProperties: true, description: 'Nobody reads it.' }),
      bodyIs: 'any',
      bodyOptional: true,
      summary: 'Accept a licence; none is needed',
      answers: { 200: DoneEnvelope },
      run: () => ok('No licence is needed'),
    },
  ]
}

function licence(path: string): Route {
  return {
    method: 'GET',
    path,
    access: 'signed-in',
    summary: 'Read the licence: nothing is limited',
    answers: { 200: Licence },
    run: () => ok('No licence is needed', { valid_until: NEVER_S, nodes_available: UNBOUNDED, entitlements: {} }),
  }
}

async function stats(parts: DashboardParts, call: Call): Promise<Answer> {
  const now = parts.clock.wall()
  const today = new Date(now).toISOString().slice(0, 10)
  const [from, to] = [dayOf(call, 'start_day', '0000-01-01'), dayOf(call, 'end_day', '9999-12-31')]
  if (from > today || to < today) throw fault('not_found', 'Stats not found.')
  const asked = call.query('entity')
  const counted = async (entity: (typeof ENTITIES)[number], count: () => Promise<number>) =>
    asked === '' || asked === entity ? [{ date: today, count: await count() }] : []
  const apis = async () => (await parts.documents.list('api', { where: call.visibility.where(), limit: 1 })).total
  const gateways = async () => (await listNodes(parts)).filter((node) => isUp(node, now)).length
  return bare({
    status: 'Success',
    message: '',
    stats: {
      apis: await counted('apis', apis),
      dataplanes: await counted('dataplanes', async () => 0),
      dataplanes_gateways: await counted('dataplanes.gateways', gateways),
    },
  })
}

/** @throws Fault `query_invalid` (400) */
function dayOf(call: Call, name: string, otherwise: string): string {
  const text = call.query(name)
  if (text === '') return otherwise
  if (!isDay(text)) throw fault('query_invalid', `${name} must be a date such as 2025-01-31`)
  return text
}

function nodes(all: readonly NodeStatus[], now: number, call: Call): Answer {
  const page = pageOf(call)
  const shown = page === 'all' ? all : all.slice(page.offset, page.offset + page.limit)
  return bare({
    data: {
      nodes: shown.map((node) => nodeShape(node, now)),
      active_node_count: all.filter((node) => isUp(node, now)).length,
      nodes_available: UNBOUNDED,
      nodes_remaining: UNBOUNDED,
      valid_until: NEVER_S,
    },
  })
}

/** Of nodes that are up: what the others would do nobody can tell. */
function placement(all: readonly NodeStatus[], now: number, sent: string): Answer {
  const tags = sent.split(',').map((tag) => tag.trim())
  const wanted = tags.filter((tag) => tag !== '')
  const nodes = all
    .filter((node) => isUp(node, now))
    .map((node) => ({ node: node.name, loads: loadsHere({ tags: wanted }, node), reason: whyPlaced(node, wanted) }))
  return bare({ nodes, warnings: nodeWarnings(all, now) })
}

function whyPlaced(node: NodeStatus, wanted: readonly string[]): string {
  if (!node.segmented) return 'it is not segmented: it loads every API'
  const common = wanted.filter((tag) => node.tags.includes(tag))
  if (common.length > 0) return `it has the ${common.length > 1 ? 'tags' : 'tag'} ${common.join(', ')}`
  if (node.tags.length === 0) return 'it is segmented and has no tags: it loads nothing'
  return wanted.length === 0
    ? `it is segmented, and an API without tags is for no segment: it takes ${node.tags.join(', ')}`
    : `it takes ${node.tags.join(', ')}`
}

/** The state of a node, without its APIs: they may belong to others. */
function nodeShape(node: NodeStatus, now: number): JsonObject {
  const active = isUp(node, now)
  return {
    id: nodeDocumentId(node.name),
    hostname: node.hostname,
    name: node.name,
    version: node.version,
    tags: [...node.tags],
    segmented: node.segmented,
    active,
    last_seen: node.seen_at,
    started_at: node.started_at,
    loaded: node.loaded,
    troubled: node.troubled,
    behind: node.behind,
    management: node.management,
    ...(active && node.load !== undefined && { load: { ...node.load } }),
  }
}

function settingsOf(node: NodeStatus): JsonObject {
  return {
    db_app_conf_options: { node_is_segmented: node.segmented, tags: [...node.tags] },
    management_node: node.management,
    hostname: node.hostname,
    version: node.version,
  }
}

/** The metrics of the dashboard, for Prometheus: `/metrics`. */
export function metricRoutes({ metrics }: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      access: 'installation',
      scraped: true,
      summary:
        'Read the metrics of this dashboard as Prometheus reads them; the bearer token `metrics.secret` opens it too',
      answers: { 200: Type.String() },
      answerType: 'text/plain',
      run: async (call) => {
        const { contentType, body } = await metricsPage(metrics.registry, call.header('accept'))
        return { status: 200, body, type: contentType }
      },
    },
  ]
}
