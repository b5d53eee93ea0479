import { Fault, prebuilt } from '../../../errors/fault.ts'
import type { Api } from '../../../model/apis/definition/api.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json/json.ts'
import { readJson } from '../../../model/json/json-body.ts'
import { type Limit, makeLimit } from '../../../model/limits/limit.ts'
import { readDecoded } from '../../compression/decode.ts'
import { filterLists } from '../../mcp/tool-list-filter.ts'
import type { Exchange, Reply, Step, StepOutcome } from '../../server/exchange.ts'
import { limitsOf, organisationOf, type TakeLater } from '../limits/take-permits.ts'

/** A fault and its code in JSON-RPC 2.0 (section 5.1): two of those that servers choose, and an invalid request. */
const FORBIDDEN = { fault: prebuilt('tool_forbidden'), code: -32_003 }
const LIMITED = { fault: prebuilt('api_rate_exceeded'), code: -32_029 }
const UNREADABLE = { fault: prebuilt('rpc_unreadable'), code: -32_600 }

/** Largest body that is read; larger ones are refused (413). Servers of the MCP SDK take as much. */
const MAX_BYTES = 4_194_304

const CALL = 'tools/call'
/** Blocked with everything else where some tools are allowed. */
const OTHER_PRIMITIVES: readonly string[] = ['prompts/get', 'resources/read']
const GUARDED: readonly string[] = [CALL, ...OTHER_PRIMITIVES]

/** A message asks for a tool, something else that rules may block, nothing of the kind, or something unclear. */
type Asked = { readonly tool: string } | 'other primitive' | 'nothing' | 'unreadable'

/**
 * Refuses calls of MCP tools that the rules block or that come too often, with an error of JSON-RPC 2.0, and has lists leave out what is
 * blocked. Readers differ in repeated members, letter case of members and character sets: a body that another could read as another call is
 * refused, and so are tunnels, whose messages nobody reads.
 */
export function checkTools({ apiId, mcpTools: rules }: Api, take: TakeLater): Step | undefined {
  if (rules === undefined) return undefined
  const allow = rules.allow && new Set(rules.allow)
  const block = new Set(rules.block)
  const isHiddenTool = (tool: string) => block.has(tool) || (allow !== undefined && !allow.has(tool))
  const isBlocked = (asked: Asked) =>
    typeof asked === 'string' ? asked === 'other primitive' && allow !== undefined : isHiddenTool(asked.tool)
  const hides = block.size > 0 || allow !== undefined
  const hidden = { isHiddenTool, otherPrimitives: allow !== undefined }
  const limits = new Map(
    rules.rates.map(({ tool, rate, perMs }) => [
      tool,
      makeLimit('rate', `api|${apiId}|tool ${tool}`, rate, perMs, 'tool'),
    ]),
  )
  const tracked = new Set(rules.tracked)

  const judge = async (x: Exchange): Promise<StepOutcome> => {
    if (namesOtherCharset(x)) return refusal(x, UNREADABLE)
    const body = await readDecoded(x, Math.min(x.bodyLimitBytes || MAX_BYTES, MAX_BYTES))
    if ('reason' in body) return refusal(x, UNREADABLE)
    if (body.bytes.length === 0) return undefined
    const read = messagesOf(body.bytes)
    if (read === undefined) return refusal(x, UNREADABLE)
    const asked = read.messages.map(askedBy)
    if (asked.includes('unreadable')) return refusal(x, UNREADABLE)
    const tools = asked.flatMap((each) => (typeof each === 'string' ? [] : [each.tool]))
    // Refused calls are counted, too.
    const counted = tools.find((tool) => tracked.has(tool))
    if (counted !== undefined) x.trackedTool = `${CALL} ${counted}`
    if (asked.some(isBlocked)) return refusal(x, FORBIDDEN, read)
    return takeAll(x, tools, read)
  }

  /**
   * A permit for each call. A tool that a batch calls twice takes the second one after all first ones. A batch that calls one more often than its
   * rate ever allows takes none: so there are at most as many turns as that rate has permits.
   */
  const takeAll = async (x: Exchange, tools: readonly string[], read: Messages): Promise<StepOutcome> => {
    const counts = new Map<Limit, number>()
    for (const tool of tools) {
      const limit = limits.get(tool)
      if (limit !== undefined) counts.set(limit, (counts.get(limit) ?? 0) + 1)
    }
    for (const [limit, calls] of counts) if (calls > limit.max) return refusal(x, LIMITED, read)
    const before = counts.size === 0 ? [] : limitsOf(x, x.plan?.access, organisationOf(x))
    for (
      let turn = 0, due = [...counts.keys()];
      due.length > 0;
      due = due.filter((limit) => counts.get(limit)! > turn)
    ) {
      const refused = await take(x, due, before)
      if (refused instanceof Fault && refused.code === LIMITED.fault.code) return refusal(x, LIMITED, read)
      if (refused !== undefined) return refused
      turn++
    }
    return undefined
  }

  return function checkTools(x) {
    // An explained request has no body.
    if (x.dry) return undefined
    if (x.upgrade !== '') return refusal(x, FORBIDDEN)
    if (hides) filterLists(x, hidden)
    return x.body === undefined && x.bodyLength === 0 ? undefined : judge(x)
  }
}

/** True unless the body is declared as UTF-8, or as nothing: servers decode by `charset`. */
function namesOtherCharset(x: Exchange): boolean {
  const types = x.request.all('content-type')
  // The second of two such fields might be the one that the upstream heeds.
  if (types.length > 1) return true
  const [type = ''] = types
  const named = type.match(/charset/gi)?.length ?? 0
  return named > 1 || (named === 1 && !/;[ \t]*charset=(?:utf-?8|"utf-?8")[ \t]*(?:;|$)/i.test(type))
}

interface Messages {
  readonly messages: readonly JsonObject[]
  readonly isBatch: boolean
}

/** undefined where the body is no JSON that every reader reads the same, or something else than messages. */
function messagesOf(bytes: Uint8Array): Messages | undefined {
  let value: Json
  try {
    value = readJson(bytes, { anyNumbers: true })
  } catch {
    return undefined
  }
  const isBatch = Array.isArray(value)
  const messages = Array.isArray(value) ? value : [value]
  return messages.every(isObject) ? { messages, isBatch } : undefined
}

function askedBy(message: JsonObject): Asked {
  if (isMisspelled(message, ['method', 'params'])) return 'unreadable'
  const { method, params } = message
  // An answer to a question of the server.
  if (method === undefined) return 'nothing'
  if (typeof method !== 'string') return 'unreadable'
  if (!GUARDED.includes(method)) return GUARDED.includes(folded(method.trim())) ? 'unreadable' : 'nothing'
  if (method !== CALL) return 'other primitive'
  if (params === undefined || !isObject(params) || isMisspelled(params, ['name'])) return 'unreadable'
  const { name } = params
  return typeof name === 'string' && !name.includes('\0') ? { tool: name } : 'unreadable'
}

/** True where readers that ignore letter case (Go, .NET) or end texts at a NUL (C) find one of these members under another name. */
function isMisspelled(object: JsonObject, names: readonly string[]): boolean {
  return Object.keys(object).some((name) => !names.includes(name) && names.includes(folded(name)))
}

/** Without letter case (the long s is an s), up to a NUL. */
const folded = (text: string) => text.split('\0', 1)[0]!.toUpperCase().toLowerCase()

/** An error for each request of the body, with its id; one without an id where there is no request. */
function refusal(x: Exchange, { fault, code }: typeof FORBIDDEN, read?: Messages): Reply {
  x.fault = fault
  const error = { code, message: fault.message }
  const errors = (read?.messages ?? [])
    .filter(({ id, method }) => id !== undefined && method !== undefined)
    .map(({ id }) => ({ jsonrpc: '2.0', id: idOf(id), error }))
  const single = errors[0] ?? { jsonrpc: '2.0', id: null, error }
  const answer = read?.isBatch === true && errors.length > 0 ? errors : single
  const body = JSON.stringify(answer)
  return { status: fault.entry.status, fields: 'Content-Type: application/json\r\n', body }
}

/** An id that goes back unchanged: JSON.parse rounds other numbers. */
const idOf = (id: Json | undefined) => (typeof id === 'string' || Number.isSafeInteger(id) ? id : null)
