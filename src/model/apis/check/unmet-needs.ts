import type { Json, JsonObject } from '../../json/json.ts'
import { type ApiEventName, apiEventOf } from '../../webhooks/api-events.ts'
import type { ApiDocument } from '../definition/api.ts'
import {
  EXTENSION,
  extensionOf,
  flagOf,
  isEmpty,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from '../definition/members.ts'
import { type Flaw, getAt, member, pathOf, type TreePath } from '../definition/tree.ts'
import { hasInlineVersions } from '../read/read-classic.ts'
import { usesExtendedPaths } from '../read/read-rules.ts'

type Format = ApiDocument['format']

/** The place of a member in each format, below the extension in an OpenAPI document. */
export type Place = Readonly<Record<Format, TreePath>>

const place = (classic: string, oas: string): Place => ({ classic: pathOf(classic), oas: pathOf(oas) })
const within = ({ classic, oas }: Place, [inClassic, inOas]: readonly [string, string]): Place => ({
  classic: [...classic, inClassic],
  oas: [...oas, inOas],
})

/** A definition whose members are read and named in its own format. */
class Reading {
  readonly format: Format
  /** The classic definition, or the extension. */
  readonly root: JsonObject

  constructor(format: Format, definition: JsonObject) {
    this.format = format
    this.root = format === 'oas' ? (extensionOf(definition) ?? {}) : definition
  }

  get(at: Place): Json | undefined {
    return getAt(this.root, at[this.format])
  }

  section(at: Place): JsonObject {
    return objectOf({ held: this.get(at) ?? null }, 'held')
  }

  isOn(at: Place): boolean {
    return this.get(at) === true
  }

  isEmpty(at: Place): boolean {
    return isEmpty(this.get(at))
  }

  /** The name of a member in quotes. */
  name(at: Place): string {
    return JSON.stringify(at[this.format].at(-1))
  }

  flaw(at: Place, reason: string): Flaw {
    return { at: this.format === 'oas' ? [EXTENSION, ...at.oas] : at.classic, reason }
  }
}

const VERSIONING = place('definition', 'info.versioning')
const DEFAULT = within(VERSIONING, ['default', 'default'])
const FALLBACK = within(VERSIONING, ['fallback_to_default', 'fallbackToDefault'])
const URL_PATTERN = within(VERSIONING, ['url_versioning_pattern', 'urlVersioningPattern'])
const STRIP = within(VERSIONING, ['strip_versioning_data', 'stripVersioningData'])
/** Of versions within a classic definition. */
const INLINE_DEFAULT = place('version_data.default_version', '')

/** Settings of versions that meet no request, or fewer than it seems. */
function versionNeeds(reading: Reading): Flaw[] {
  const section = reading.section(VERSIONING)
  const isInline = reading.format === 'classic' && hasInlineVersions(reading.root)
  if (!isInline && !flagOf(section, 'enabled')) return []
  const defaultAt = isInline ? INLINE_DEFAULT : DEFAULT
  const chosen = textOf({ held: reading.get(defaultAt) ?? null }, 'held')
  const isInPath = textOf(section, 'location') === 'url'
  const falls = reading.isOn(FALLBACK)
  const flaws: Flaw[] = []
  if (chosen === '' && falls) flaws.push(reading.flaw(FALLBACK, `has no effect without ${reading.name(defaultAt)}`))
  if (chosen !== '' && isInPath && !falls)
    flaws.push(
      reading.flaw(
        defaultAt,
        `counts for the bare listen path alone: ${reading.name(FALLBACK)} makes it count for every path that begins with no version`,
      ),
    )
  if (chosen !== '' && !isInline && !versionNames(reading, section).has(chosen))
    flaws.push(reading.flaw(DEFAULT, 'is the name of no version: requests that name none are refused'))
  if (!reading.isEmpty(URL_PATTERN)) {
    const strips = reading.isOn(STRIP) || flagOf(section, 'strip_path')
    if (!isInPath) flaws.push(reading.flaw(URL_PATTERN, 'has no effect without "location": "url"'))
    else if (!strips)
      flaws.push(
        reading.flaw(URL_PATTERN, `has no effect without ${reading.name(STRIP)}: it says which versions are stripped`),
      )
  }
  return flaws
}

function versionNames({ format }: Reading, section: JsonObject): ReadonlySet<string> {
  const names =
    format === 'classic'
      ? Object.keys(objectOf(section, 'versions'))
      : objectsOf(section, 'versions').map((each) => textOf(each, 'name'))
  return new Set([...names, textOf(section, 'name'), 'self'])
}

const BALANCING = place('proxy.enable_load_balancing', 'upstream.loadBalancing.enabled')
const TARGETS = place('proxy.target_list', 'upstream.loadBalancing.targets')
const SKIP = place('proxy.check_host_against_uptime_tests', 'upstream.loadBalancing.skipUnavailableHosts')
const DISCOVERY = place('proxy.service_discovery.use_discovery_service', 'upstream.serviceDiscovery.enabled')
const SRV_NAME = place('proxy.service_discovery.srv_name', 'upstream.serviceDiscovery.srvName')
const TESTS = place('uptime_tests', 'upstream.uptimeTests')
const CHECKS = within(TESTS, ['check_list', 'tests'])
const TARGET = place('proxy.target_url', 'upstream.url')
const GRPC_WEB = place('grpc_web', 'server.grpcWeb')
const EJECTION = place('proxy.outlier_ejection', 'upstream.outlierEjection')

/** Settings of targets that no target, or no check, follows. */
function upstreamNeeds(reading: Reading): Flaw[] {
  const isBalanced = reading.isOn(BALANCING)
  const targets = objectsOrTexts(reading.get(TARGETS))
  const isDiscovered = reading.isOn(DISCOVERY) && !reading.isEmpty(SRV_NAME)
  const flaws: Flaw[] = []
  if (isBalanced && targets.size === 0 && !isDiscovered)
    flaws.push(reading.flaw(BALANCING, `has no effect without ${reading.name(TARGETS)}`))
  if ((isBalanced || reading.format === 'classic') && reading.isOn(SKIP) && !hasChecks(reading))
    flaws.push(reading.flaw(SKIP, `has no effect without health checks (${reading.name(TESTS)})`))
  const urls = isBalanced && targets.size > 0 ? [...targets] : [`${reading.get(TARGET) ?? ''}`]
  if (reading.isOn(GRPC_WEB) && urls.every((url) => /^http:/i.test(url)) && !choosesTargets(reading))
    flaws.push(reading.flaw(GRPC_WEB, 'needs an upstream that is asked over HTTP/2: "h2c://", or "https://"'))
  const ejection = reading.section(EJECTION)
  const count = isBalanced && targets.size > 0 ? targets.size : 1
  const percent = numberOr(ejection, reading.format === 'oas' ? 'maxPercent' : 'max_percent', 50)
  if (flagOf(ejection, 'enabled') && !isDiscovered && Math.floor((count * percent) / 100 + 1e-9) === 0)
    flaws.push(reading.flaw(EJECTION, `leaves out no target: ${percent} % of ${count} is none`))
  return flaws
}

/** True when operations or versions can send requests to other URLs than the upstream's. */
function choosesTargets(reading: Reading): boolean {
  if (reading.format === 'oas') {
    const operations = reading.section(OPERATIONS)
    return Object.keys(operations).some((id) => isSectionOn(operations, id, 'urlRewrite'))
  }
  const versions = objectOf(objectOf(reading.root, 'version_data'), 'versions')
  return (
    listedEntries(reading, 'url_rewrites').length > 0 ||
    Object.keys(versions).some((name) => textOf(objectOf(versions, name), 'override_target') !== '')
  )
}

/** The distinct targets of a list in either format. */
function objectsOrTexts(list: Json | undefined): ReadonlySet<string> {
  const entries = Array.isArray(list) ? list : []
  return new Set(entries.map((entry) => (typeof entry === 'string' ? entry : textOf(entry, 'url'))))
}

function numberOr(holder: JsonObject, name: string, usual: number): number {
  return typeof member(holder, name) === 'number' ? numberOf(holder, name) : usual
}

function hasChecks(reading: Reading): boolean {
  const isOff =
    reading.format === 'oas' ? !flagOf(reading.section(TESTS), 'enabled') : flagOf(reading.section(TESTS), 'disabled')
  return !isOff && !reading.isEmpty(CHECKS)
}

const ACCESS_LIST = place('enable_ip_whitelisting', 'server.ipAccessControl.enabled')
const ALLOWED = place('allowed_ips', 'server.ipAccessControl.allow')
const BLOCK_LIST = place('enable_ip_blacklisting', 'server.ipAccessControl.enabled')
const BLOCKED = place('blacklisted_ips', 'server.ipAccessControl.block')
const CERTIFICATES = place('use_mutual_tls_auth', 'server.clientCertificates.enabled')
const ACCEPTED = place('client_certificates', 'server.clientCertificates.allowlist')
const DOMAIN = place('domain', 'server.customDomain.name')
const DOMAIN_CERTIFICATES = place('certificates', 'server.customDomain.certificates')
const DOMAIN_ON = place('', 'server.customDomain.enabled')

/** Rules about callers that are on and hold nothing. */
function accessNeeds(reading: Reading): Flaw[] {
  const isOas = reading.format === 'oas'
  const flaws: Flaw[] = []
  const empty = (at: Place) => reading.isEmpty(at)
  if (isOas && reading.isOn(ACCESS_LIST) && empty(ALLOWED) && empty(BLOCKED))
    flaws.push(reading.flaw(ACCESS_LIST, 'has no effect: "allow" and "block" are empty'))
  if (!isOas && reading.isOn(ACCESS_LIST) && empty(ALLOWED))
    flaws.push(reading.flaw(ACCESS_LIST, `has no effect: ${reading.name(ALLOWED)} is empty`))
  if (!isOas && reading.isOn(BLOCK_LIST) && empty(BLOCKED))
    flaws.push(reading.flaw(BLOCK_LIST, `has no effect: ${reading.name(BLOCKED)} is empty`))
  if (reading.isOn(CERTIFICATES) && empty(ACCEPTED))
    flaws.push(reading.flaw(CERTIFICATES, `accepts no client certificate: ${reading.name(ACCEPTED)} is empty`))
  if (isOas && reading.isOn(DOMAIN_ON) && empty(DOMAIN))
    flaws.push(reading.flaw(DOMAIN_ON, `has no effect without ${reading.name(DOMAIN)}`))
  if (!isOas && !empty(DOMAIN_CERTIFICATES) && empty(DOMAIN))
    flaws.push(reading.flaw(DOMAIN_CERTIFICATES, `has no effect without ${reading.name(DOMAIN)}`))
  return flaws
}

const DETAILED = place('enable_detailed_recording', 'server.detailedActivityLogs.enabled')
const TAG_HEADERS = place('tag_headers', 'middleware.global.trafficLogs.tagHeaders')
const TRACKED = place('do_not_track', 'middleware.global.trafficLogs')
const OPERATIONS = place('', 'middleware.operations')

/** Members about records of an API whose requests are not recorded. */
function recordNeeds(reading: Reading): Flaw[] {
  const isOas = reading.format === 'oas'
  const isRecorded = isOas ? flagOf(reading.section(TRACKED), 'enabled') : !reading.isOn(TRACKED)
  if (isRecorded) return []
  const reason = isOas
    ? 'has no effect without "trafficLogs" in "middleware.global"'
    : 'has no effect: "do_not_track" is on'
  const flaws: Flaw[] = []
  if (reading.isOn(DETAILED)) flaws.push(reading.flaw(DETAILED, reason))
  if (!isOas && !reading.isEmpty(TAG_HEADERS)) flaws.push(reading.flaw(TAG_HEADERS, reason))
  if (!isOas)
    return [
      ...flaws,
      ...listedEntries(reading, 'track_endpoints')
        .slice(0, 1)
        .map((at) => ({ at, reason })),
    ]
  const operations = reading.section(OPERATIONS)
  const first = Object.keys(operations).find((id) => isSectionOn(operations, id, 'trackEndpoint'))
  if (first !== undefined) flaws.push({ at: [EXTENSION, ...OPERATIONS.oas, first, 'trackEndpoint'], reason })
  return flaws
}

/** The enabled entries of a list of paths in all versions of a classic definition. */
function listedEntries({ root }: Reading, list: string): TreePath[] {
  const versions = objectOf(objectOf(root, 'version_data'), 'versions')
  return Object.keys(versions).flatMap((name) => {
    const version = objectOf(versions, name)
    if (!usesExtendedPaths(version)) return []
    return objectsOf(objectOf(version, 'extended_paths'), list).flatMap((entry, index) =>
      flagOf(entry, 'disabled') ? [] : [['version_data', 'versions', name, 'extended_paths', list, String(index)]],
    )
  })
}

function isSectionOn(operations: JsonObject, id: string, name: string): boolean {
  return flagOf(objectOf(objectOf(operations, id), name), 'enabled')
}

/** A switch of the extension with a number that makes it do nothing. Classic definitions have no such switches: 0 means off there. */
const ZEROS = [
  { at: 'upstream.rateLimit', number: 'rate' },
  { at: 'middleware.global.requestSizeLimit', number: 'value' },
].map(({ at, number }) => ({ at: place('', at), number }))

/** Limits that are on and limit nothing. */
function limitNeeds(reading: Reading): Flaw[] {
  if (reading.format === 'classic') return []
  const reason = (number: string) => `limits nothing: "${number}" is 0`
  const flaws = ZEROS.filter(({ at, number }) => {
    const section = reading.section(at)
    return flagOf(section, 'enabled') && numberOf(section, number) === 0
  }).map(({ at, number }) => reading.flaw(at, reason(number)))
  for (const owner of [OPERATIONS, TOOLS]) {
    const held = reading.section(owner)
    for (const name of Object.keys(held))
      if (isSectionOn(held, name, 'rateLimit') && numberOf(objectOf(objectOf(held, name), 'rateLimit'), 'rate') === 0)
        flaws.push({ at: [EXTENSION, ...owner.oas, name, 'rateLimit'], reason: reason('rate') })
  }
  return flaws
}

const TOOLS = place('mcp_tools', 'middleware.mcpTools')
const AUTHENTICATION = place('use_keyless', 'server.authentication.enabled')
const EXPIRATION = place('expiration', 'info.expiration')

/** Features of a definition without which an event is never raised, in words that follow "without". */
const RAISED_BY: Readonly<
  Partial<Record<ApiEventName, { readonly words: string; isThere(reading: Reading): boolean }>>
> = (() => {
  const breakers = { words: 'a circuit breaker', isThere: hasBreaker }
  const health = {
    words: 'health checks or outlier ejection',
    isThere: (reading: Reading) => hasChecks(reading) || flagOf(reading.section(EJECTION), 'enabled'),
  }
  const callers = {
    words: 'authentication or client certificates',
    isThere: (reading: Reading) => hasAuthentication(reading) || reading.isOn(CERTIFICATES),
  }
  return {
    ...{ BreakerTripped: breakers, BreakerReset: breakers, HostDown: health, HostUp: health },
    ...{ AuthFailure: callers, KeyExpired: callers },
    QuotaExceeded: { words: 'authentication', isThere: hasAuthentication },
    VersionFailure: {
      words: 'versions or an expiration',
      isThere: (reading) =>
        flagOf(reading.section(VERSIONING), 'enabled') ||
        !reading.isEmpty(EXPIRATION) ||
        (reading.format === 'classic' && hasInlineVersions(reading.root)),
    },
  }
})()

function hasAuthentication(reading: Reading): boolean {
  return reading.format === 'oas' ? reading.isOn(AUTHENTICATION) : !reading.isOn(AUTHENTICATION)
}

function hasBreaker(reading: Reading): boolean {
  if (reading.format === 'classic') return listedEntries(reading, 'circuit_breakers').length > 0
  const operations = reading.section(OPERATIONS)
  return Object.keys(operations).some((id) => isSectionOn(operations, id, 'circuitBreaker'))
}

/** Handlers of events that the API never raises. */
function eventNeeds(reading: Reading): Flaw[] {
  return handledEvents(reading).flatMap(({ at, name }) => {
    const event = apiEventOf(name)
    const need = event && RAISED_BY[event]
    if (need === undefined || need.isThere(reading)) return []
    return [{ at, reason: `is never raised: ${event} needs ${need.words}` }]
  })
}

function handledEvents({ format, root }: Reading): { readonly at: TreePath; readonly name: string }[] {
  if (format === 'oas')
    return objectsOf(objectOf(root, 'server'), 'eventHandlers').flatMap((entry, index) =>
      flagOf(entry, 'enabled')
        ? [{ at: [EXTENSION, 'server', 'eventHandlers', String(index), 'trigger'], name: textOf(entry, 'trigger') }]
        : [],
    )
  const events = objectOf(objectOf(root, 'event_handlers'), 'events')
  return Object.keys(events)
    .filter((name) => objectsOf(events, name).some((each) => !flagOf(objectOf(each, 'handler_meta'), 'disabled')))
    .map((name) => ({ at: ['event_handlers', 'events', name], name }))
}

const NEEDS = [versionNeeds, upstreamNeeds, accessNeeds, recordNeeds, limitNeeds, eventNeeds]

/** Members that are on and wait for another member that is missing, or is off, each with what is missing. */
export function unmetNeeds(format: Format, definition: JsonObject): Flaw[] {
  const reading = new Reading(format, definition)
  return NEEDS.flatMap((needs) => needs(reading))
}
