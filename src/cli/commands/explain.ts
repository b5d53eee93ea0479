import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { gatewaySecretOf } from '../../process/gateway-secret.ts'
import type { Command, CommandContext } from './command.ts'

const TIMEOUT_MS = 30_000
const REFUSED = 2

/** `gatehouse explain`: the steps of a request at a running gateway, without sending it. */
export const EXPLAIN_COMMAND: Command = {
  name: 'explain',
  summary: 'show step by step how a running gateway would handle a request, and the rule that would refuse it',
  words: 'URL',
  options: {
    header: { type: 'string', short: 'H', multiple: true },
    method: { type: 'string', short: 'X' },
    address: { type: 'string' },
    gateway: { type: 'string', short: 'g' },
    json: { type: 'boolean' },
  },
  help: `  -H, --header NAME:VALUE  a header of the request; may be repeated with other names
  -X, --method METHOD      its method; else GET
  --address IP             the client's address; else 127.0.0.1
  -g, --gateway URL        the gateway to ask; else the one of the settings on this machine
  --json                   for programs: the answer of POST /svc/explain`,
  examples: [
    ['explain /sample/hello', 'the steps of a request of the sample API'],
    ['explain /protected/hello -X POST -H "Authorization: no-such-key"', 'why this key is refused'],
  ],
  exits: {
    0: 'the request would be forwarded or answered',
    1: 'no gateway answers, or the command line is wrong',
    2: 'the request would be refused',
  },
  async run(context) {
    const loaded = loadConfig(context)
    const [url = '', ...more] = context.words
    if (url === '' || more.length > 0)
      throw fault('option_invalid', 'give one URL or path: bin/gatehouse explain /sample/hello')
    const explained = await askGateway(loaded.config, context, questionOf(url, context.options))
    if (context.options.json === true) context.print(JSON.stringify(explained))
    else for (const line of report(explained)) context.print(line)
    return objectIn(explained.result).outcome === 'refused' ? REFUSED : 0
  },
}

function questionOf(url: string, options: CommandContext['options']): JsonObject {
  const { header = [], method, address } = options
  const headers = new Map<string, readonly [name: string, value: string]>()
  for (const each of header as readonly string[]) {
    const [, before = '', value = ''] = /^([^:]+):(.*)$/s.exec(each) ?? []
    const name = before.trim()
    // The value may be a credential: it is not repeated.
    if (before === '') throw fault('option_invalid', '--header: must be a name, a colon and a value, as for curl')
    // The call takes one value of each name, where curl would send both.
    if (headers.has(name.toLowerCase()))
      throw fault('option_invalid', `--header: ${name} is given twice: give it once, a list with commas`)
    headers.set(name.toLowerCase(), [name, value.trim()])
  }
  return {
    url,
    headers: Object.fromEntries(headers.values()),
    ...(method !== undefined && { method: String(method) }),
    ...(address !== undefined && { address: String(address) }),
  }
}

async function askGateway(config: Config, { options }: CommandContext, question: JsonObject): Promise<JsonObject> {
  const base = options.gateway === undefined ? addressOf(config) : given(String(options.gateway))
  const answer = await fetch(`${base}/svc/explain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-authorization': gatewaySecretOf(config) },
    body: JSON.stringify(question),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw fault('store_away', `no gateway answers at ${base}: start the server first, or name it with --gateway`, error)
  })
  const json = (await answer.json().catch(() => undefined)) as Json | undefined
  if (answer.status === 200 && json !== undefined && isObject(json) && isObject(json.result ?? null)) return json
  const said = json !== undefined && isObject(json) && typeof json.message === 'string' ? `: ${json.message}` : ''
  const cure = answer.status === 403 ? '; gateway.secret must be the secret of that gateway' : ''
  throw fault('option_invalid', `the gateway at ${base} answered ${answer.status}${said}${cure}`)
}

function given(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw fault('option_invalid', '--gateway: must be an http or https URL')
  return parsed.origin
}

/** The port of this machine at which `/svc/` answers. */
function addressOf({ gateway }: Config): string {
  const apart = gateway.control_port !== 0
  if (!apart && gateway.listen_port === 0)
    throw fault('option_invalid', 'gateway.listen_port is 0, any free port: name the gateway with --gateway')
  const host = apart ? gateway.control_host : gateway.listen_host
  const everywhere = host === '0.0.0.0' || host === '::'
  const named = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${named}:${apart ? gateway.control_port : gateway.listen_port}`
}

/** Lines for a terminal. */
function report(explained: JsonObject): string[] {
  const { api, key, client, policies, limits, steps, result } = explained
  return [
    ...(isObject(api ?? null) ? [`API      ${apiLine(objectIn(api))}`] : ['API      none']),
    ...(isObject(key ?? null) ? [`key      ${keyLine(objectIn(key))}`] : []),
    ...(isObject(client ?? null) ? [`client   ${textIn(objectIn(client).client_id)}`] : []),
    ...(listIn(policies).length > 0 ? [`policies ${listIn(policies).map(textIn).join(', ')}`] : []),
    '',
    ...stepLines(listIn(steps).map(objectIn)),
    ...limitLines(listIn(limits).map(objectIn)),
    '',
    ...resultLines(objectIn(result)),
  ]
}

const apiLine = ({ name, api_id: id, listen_path: path, version }: JsonObject) =>
  `${textIn(name)} (${textIn(id)}), listen path ${textIn(path)}${textIn(version) === 'Non Versioned' ? '' : `, version ${textIn(version)}`}`

const keyLine = ({ key_hash: hash, alias }: JsonObject) =>
  `${textIn(hash)}${textIn(alias) === '' ? '' : ` (${textIn(alias)})`}`

function stepLines(steps: readonly JsonObject[]): string[] {
  const width = Math.max(0, ...steps.map(({ step }) => textIn(step).length))
  return steps.map(({ step, outcome, reason, code, detail, status }) => {
    const why = [
      ...(textIn(reason) === '' ? [] : [`${textIn(reason)} (${textIn(code)})`]),
      ...(textIn(detail) === '' ? [] : [textIn(detail)]),
      ...(typeof status === 'number' ? [`status ${status}`] : []),
    ].join('; ')
    return `  ${textIn(step).padEnd(width)}  ${textIn(outcome)}${why === '' ? '' : `: ${why}`}`
  })
}

function limitLines(limits: readonly JsonObject[]): string[] {
  if (limits.length === 0) return []
  const lines = limits.map(({ kind, max, window_ms: window, remaining, reset_ms: reset }) => {
    const seconds = (ms: Json | undefined) => `${Number(ms ?? 0) / 1000} s`
    return `  ${textIn(kind)}: ${Number(remaining)} of ${Number(max)} requests in ${seconds(window)} left, renews in ${seconds(reset)}`
  })
  return ['', 'Limits:', ...lines]
}

function resultLines({ outcome, status, method, path, targets, body }: JsonObject): string[] {
  if (outcome === 'forwarded') return [`forwarded: ${textIn(method)} ${textIn(path)} to ${listIn(targets).join(', ')}`]
  const answer = typeof status === 'number' ? ` with status ${status}` : ' by the gateway'
  return [`${textIn(outcome)}${answer}${isObject(body ?? null) ? `: ${JSON.stringify(body)}` : ''}`]
}

const objectIn = (value: Json | undefined): JsonObject => (value !== undefined && isObject(value) ? value : {})
const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
