import { fault } from '../../errors/fault.ts'
import { EXTENSION_SCHEMA } from '../../model/apis/schema/schema-oas.ts'
import { isObject } from '../../model/json/json.ts'
import { presentMembers } from '../../model/json/present-members.ts'
import type { GatewayCommand } from '../../model/nodes/gateway-command.ts'
import { sendGatewayCommand } from '../../publish/nodes/gateway-commands.ts'
import { done, json } from './answer.ts'
import { apiHealth } from './api-health.ts'
import { type AdminParts, waitUntilServed, withinFiveSeconds } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

/** The node itself: reload, its APIs, the schema of definitions, explanations. */
export function nodeRoutes(parts: AdminParts): AdminRoute[] {
  const reload = reloads(parts)
  const tell = async (order: GatewayCommand) => {
    await waitUntilServed(parts, await sendGatewayCommand(parts, order))
    return done('cache invalidated')
  }
  const forget = () => tell({ order: 'key_sets', subject: '' })
  return [
    { method: 'GET', path: '/reload', acts: true, run: reload },
    { method: 'GET', path: '/reload/group', acts: true, run: reload },
    { method: 'GET', path: '/node', run: () => node(parts) },
    { method: 'DELETE', path: '/cache/jwks', run: forget },
    { method: 'DELETE', path: '/cache/jwks/{api}', run: forget },
    {
      method: 'DELETE',
      path: '/cache/{api}',
      run: (request) => tell({ order: 'responses', subject: request.param('api') }),
    },
    {
      method: 'GET',
      path: '/schema',
      run: (request) => {
        const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...EXTENSION_SCHEMA }
        return json(request.isAlias ? { status: 'Success', message: '', schema } : schema)
      },
    },
    { method: 'GET', path: '/health', run: apiHealth(parts) },
    { method: 'POST', path: '/explain', run: async (request) => json(await parts.explain(await question(request))) },
  ]
}

/** Many calls while one reload runs become one more reload. */
function reloads(parts: AdminParts) {
  let next: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()
  const reload = (): Promise<void> => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        parts.rescan?.()
        running = parts.live.reload()
        return running
      })
    return next
  }
  return async (request: AdminRequest) => {
    const ended = reload()
    if (request.flag('block')) await withinFiveSeconds(parts, ended, 'Asked for, but not yet done on this node')
    else ended.catch((error) => parts.log.error({ cause: error }, 'requested reload failed'))
    return done()
  }
}

function node(parts: AdminParts) {
  const { live, catalogue, shard } = parts
  const upstreams = parts.upstreamCares?.states() ?? []
  return json({
    name: parts.nodeName(),
    version: parts.version,
    segmented: shard.segmented,
    tags: [...shard.tags],
    revision: live.snapshot.revision,
    ready: parts.ready(),
    behind: live.behind,
    apis: catalogue
      .states()
      .map(({ apiId, name, state, reason, revision }) => ({ api_id: apiId, name, state, reason, revision })),
    ...(upstreams.length > 0 && { upstreams }),
  })
}

/** Reads `{method, url, headers, address}`; method is GET unless given. @throws Fault `body_malformed` (400) */
async function question(request: AdminRequest) {
  const { method = 'GET', url, headers = {}, address } = presentMembers(await request.object())
  if (typeof method !== 'string' || !/^[A-Za-z]{1,32}$/.test(method))
    throw fault('body_malformed', 'method: must be an HTTP method')
  if (typeof url !== 'string' || !/^(\/|https?:\/\/)[\x21-\x7e]*$/i.test(url)) {
    throw fault('body_malformed', 'url: must be an absolute http or https URL, or a path')
  }
  if (!isObject(headers)) throw fault('body_malformed', 'headers: must be an object of texts')
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw fault('body_malformed', 'headers: a name is not the name of a header')
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw fault('body_malformed', `headers.${name}: must be a text that a header can hold`)
  }
  if (address !== undefined && typeof address !== 'string')
    throw fault('body_malformed', 'address: must be an IP address')
  return { method, url, headers: headers as Record<string, string>, ...(address !== undefined && { address }) }
}
