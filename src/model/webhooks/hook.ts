import { BlockList, isIP, isIPv4 } from 'node:net'
import { Fault, fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { isWireField } from '../network/wire-fields.ts'

/** IPv4 networks that are not part of the public internet (IANA special-purpose registry), and what clouds keep inside. */
const PRIVATE_V4 = [
  '0.0.0.0/8', // this network: reaches the own host
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT, and metadata of a cloud
  '127.0.0.0/8',
  '168.63.129.16/32', // a public address that a cloud answers on inside
  '169.254.0.0/16', // link-local, and the metadata of most clouds
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments, and metadata of a cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/3', // multicast, reserved, broadcast
]
/** Global unicast is `2000::/3`; these parts of it are not, or hide an IPv4 address. */
const PRIVATE_V6 = [
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
]
const GLOBAL_V6 = listOf(['2000::/3'])
const PRIVATE = listOf([...PRIVATE_V4, ...PRIVATE_V6])
/** IPv4-mapped, and NAT64 by the well-known prefix: the IPv4 address in the last 32 bits is the one that counts. */
const CARRIES_V4 = listOf(['::ffff:0:0/96', '64:ff9b::/96'])

/**
 * True for an address of the public internet. False for loopback, link-local, private, unique-local, shared, multicast, reserved,
 * documentation and metadata addresses, whether IPv4, IPv6, or IPv4 within IPv6, and for text that is no address.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  // with a zone it belongs to one link
  if (family === 0 || address.includes('%')) return false
  if (family === 4) return !PRIVATE.check(address, 'ipv4')
  if (CARRIES_V4.check(address, 'ipv6')) return isPublicAddress(lastAsV4(address))
  return GLOBAL_V6.check(address, 'ipv6') && !PRIVATE.check(address, 'ipv6')
}

/** Who may be called at addresses that are not public: what the installation says, and its setting, which refusals name. */
export interface NetworkRule {
  readonly allowPrivate: boolean
  readonly setting: 'webhooks.allow_private' | 'sso.allow_private' | 'dashboard.import_url.allow_private'
}

/** The rule for webhooks, and for key sets, introspection and documents of clients. */
export function webhookNetwork(allowPrivate: boolean): NetworkRule {
  return { allowPrivate, setting: 'webhooks.allow_private' }
}

/**
 * Reads an address that a user names for the installation to call: http or https, no user and no password in it. A host that is an
 * address is judged here, a name when it is resolved. @throws Fault `webhook_target_refused` (400) with words that follow the name of the
 * address
 */
export function readWebhookTarget(text: string, rule: NetworkRule): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw fault('webhook_target_refused', 'must be an absolute http or https URL')
  if (url.username !== '' || url.password !== '')
    throw fault('webhook_target_refused', 'must not hold a user name or password')
  // URL has turned numbers such as 0x7f.1 or 2130706433 into ordinary addresses
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) refusePrivate([host], rule)
  return url
}

/** True for a URL whose host says by itself that it is in a private network; names are judged when they are resolved. */
export function isPrivateTarget(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$|\.$/, '$1') : ''
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))
}

/** Those of the addresses that may be connected to. @throws Fault `webhook_target_refused` (400) when none may */
export function refusePrivate(addresses: readonly string[], { allowPrivate, setting }: NetworkRule): readonly string[] {
  const open = allowPrivate ? addresses : addresses.filter(isPublicAddress)
  if (open.length > 0) return open
  throw fault(
    'webhook_target_refused',
    `is on a loopback, link-local, private or reserved network: set ${setting} to reach it`,
  )
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return list
}

/** The last 32 bits of an IPv6 address as an IPv4 one. */
function lastAsV4(address: string): string {
  const dotted = address.includes('.') ? address.slice(address.lastIndexOf(':') + 1) : undefined
  if (dotted !== undefined) return dotted
  const [high = 0, low = 0] = address
    .replace(/::$/, '::0:0')
    .replace('::', ':0:0:')
    .split(':')
    .slice(-2)
    .map((group) => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The stored form of a webhook; unknown members are kept. */
export interface Hook {
  readonly org_id: string
  readonly name: string
  readonly method: string
  readonly target_path: string
  /** Kept for clients that send it; messages are always JSON. */
  readonly template_path: string
  /** Seconds; kept for clients that send it. */
  readonly event_timeout: number
  /** Base64 of the sealed `HookSecrets`. */
  readonly sealed: string
}

/** The members of a webhook that may be secret. */
export interface HookSecrets {
  readonly header_map: Readonly<Record<string, string>>
  /** The key that signs messages; '' = unsigned. */
  readonly shared_secret: string
}

/** A webhook as it came over the wire. */
export interface HookDraft {
  /** Without what is sealed. */
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: as before. */
  readonly sharedSecret: string | undefined
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
/** Fields that we write, besides those of the wire. */
const TAKEN = /^(?:host|proxy-.*|x-svc-.*)$/i
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const FIELD_VALUE = /^[\x20-\x7e\x80-\xff]*$/
/** Beyond the characters of RFC 3986, and a `%` that begins no escape. */
const NO_URI = /[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]|%(?![0-9A-Fa-f]{2})/
const LONGEST = 256
const LONGEST_TARGET = 2048
const LONGEST_VALUE = 4096
const MOST_HEADERS = 50
const LONGEST_TIMEOUT_S = 86_400

/** How webhooks are read. */
export interface HookRules {
  readonly allowPrivate: boolean
  /** Names of members where they differ from those of a stored webhook, for refusals. */
  readonly names?: Readonly<Partial<Record<'target_path' | 'header_map', string>>>
  /** The target as it was shown before: one that is sent back may be longer than new ones. */
  readonly shownTarget?: Json | undefined
}

/**
 * Reads a webhook from the wire. @throws Fault `hook_invalid` (400) naming the field, `webhook_target_refused` (400)
 */
export function readHook(sent: JsonObject, { allowPrivate, shownTarget, names = {} }: HookRules): HookDraft {
  const { target_path: targetName = 'target_path', header_map: headersName = 'header_map' } = names
  const { id: _id, org_id: _org, api_model: _model, sealed: _sealed, header_map, shared_secret, ...rest } = sent
  const method = text('method', rest.method, 10).toUpperCase()
  if (!METHODS.has(method)) throw fault('hook_invalid', `method: must be one of ${[...METHODS].join(', ')}`)
  const target = readTarget(targetName, rest.target_path, shownTarget)
  checkTarget(targetName, target, allowPrivate)
  const timeout = rest.event_timeout ?? 0
  if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= LONGEST_TIMEOUT_S))
    throw fault('hook_invalid', 'event_timeout: must be a number of seconds, at most a day')
  const body = {
    ...rest,
    name: optional('name', rest.name),
    method,
    target_path: target,
    template_path: optional('template_path', rest.template_path),
    event_timeout: timeout,
  }
  const secret = shared_secret ?? undefined
  if (secret !== undefined && (typeof secret !== 'string' || secret.length > LONGEST || !FIELD_VALUE.test(secret)))
    throw fault('hook_invalid', 'shared_secret: must be a text that a header can carry')
  return { body, headers: readHeaders(headersName, header_map ?? {}), sharedSecret: secret }
}

/** A webhook as callers see it, in the order that they know. The shared secret is for no eye. */
export function hookShape(id: string, hook: Hook, { header_map }: HookSecrets): JsonObject {
  const { org_id, name, method, target_path: target, template_path, event_timeout, sealed: _sealed, ...rest } = hook
  const target_path = asUri(target)
  return {
    api_model: {},
    ...{ id, org_id, name, method, target_path, template_path },
    header_map: { ...header_map },
    event_timeout,
    ...rest,
  }
}

/** The address as it is stored; the bound is one of what is stored, so that what was taken is taken again. */
function readTarget(name: string, sent: Json | undefined, shown: Json | undefined): string {
  const isUnchanged = sent !== undefined && sent === shown
  const target = asUri(text(name, sent, isUnchanged ? Number.POSITIVE_INFINITY : LONGEST_TARGET))
  if (target.length > LONGEST_TARGET && !isUnchanged)
    throw fault('hook_invalid', `${name}: is longer than ${LONGEST_TARGET} characters once it is percent-encoded`)
  return target
}

/** @throws Fault `webhook_target_refused` (400) naming the member */
function checkTarget(name: string, target: string, allowPrivate: boolean): void {
  try {
    readWebhookTarget(target, webhookNetwork(allowPrivate))
  } catch (error) {
    throw error instanceof Fault ? fault(error.code, `${name}: ${error.message}`) : error
  }
}

/** An address with what no URI may hold percent-encoded, as it is when it is called. */
function asUri(target: string): string {
  const url = URL.parse(target)
  if (url === null || !NO_URI.test(target)) return target
  return url.href.replace(/[{}|^`\\"<>]|%(?![0-9A-Fa-f]{2})/g, encodeURIComponent)
}

function readHeaders(member: string, map: Json): Record<string, string> {
  if (!isObject(map) || Object.keys(map).length > MOST_HEADERS)
    throw fault('hook_invalid', `${member}: must be an object of at most ${MOST_HEADERS} texts`)
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => {
      if (!FIELD_NAME.test(name) || name.length > LONGEST || isWireField(name) || TAKEN.test(name))
        throw fault(
          'hook_invalid',
          `${member}: ${JSON.stringify(name.slice(0, 64))} is no header field, or one that is ours to write`,
        )
      if (typeof value !== 'string' || value.length > LONGEST_VALUE || !FIELD_VALUE.test(value))
        throw fault('hook_invalid', `${member}: the value of ${name} is none that a header can carry`)
      return [name, value]
    }),
  )
}

function optional(name: string, value: Json | undefined): string {
  return value === undefined || value === null || value === '' ? '' : text(name, value, LONGEST)
}

function text(name: string, value: Json | undefined, longest: number): string {
  if (typeof value !== 'string' || value === '' || value.length > longest || /[\x00-\x1f\x7f]/.test(value))
    throw fault('hook_invalid', `${name}: must be a text of 1 to ${longest} characters without control characters`)
  return value
}
