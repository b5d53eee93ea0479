import type { JsonObject } from '../../json/json.ts'
import { readSocketUrl } from '../../network/socket-url.ts'
import { membersToClassic } from '../convert/convert-table.ts'
import { upstreamToClassic } from '../convert/convert-upstream.ts'
import type { ApiDocument } from '../definition/api.ts'
import { EXTENSION, flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { type Flaw, member, type TreePath, toWords } from '../definition/tree.ts'
import { VALUES } from '../definition/values.ts'
import { readPin, readUpstream } from '../read/read-upstream.ts'

const LEAST_INTERVAL_S = 0.1
const MAX_SAMPLES = 100_000
/** Labels of which those that name service and protocol begin with an underscore (RFC 2782). */
const SRV_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*\.?$/i
const PIN_HOST = /^(?:\*|(?:\*\.)?[a-z0-9._-]+(?::\d{1,5})?|\[[0-9a-f:.]+\](?::\d{1,5})?)$/i

/** How each place is called in a classic definition and below `upstream` of the extension. */
const PLACES = {
  checks: [
    ['uptime_tests', 'check_list'],
    ['uptimeTests', 'tests'],
  ],
  interval: [
    ['uptime_tests', 'config', 'interval'],
    ['uptimeTests', 'interval'],
  ],
  recheck: [
    ['uptime_tests', 'config', 'recheck_wait'],
    ['uptimeTests', 'hostDownRetestPeriod'],
  ],
  srvName: [
    ['proxy', 'service_discovery', 'srv_name'],
    ['serviceDiscovery', 'srvName'],
  ],
  refresh: [
    ['proxy', 'service_discovery', 'refresh_interval'],
    ['serviceDiscovery', 'refreshInterval'],
  ],
  certificates: [['upstream_certificates'], ['mutualTLS', 'domainToCertificates']],
  pins: [['pinned_public_keys'], ['certificatePinning', 'domainToPublicKeysMapping']],
} as const satisfies Record<string, readonly [classic: TreePath, oas: TreePath]>

type Place = keyof typeof PLACES

/** The errors of the resilience settings of a classic definition. */
export function classicUpstreamFlaws(classic: JsonObject): Flaw[] {
  return upstreamFlaws(classic).map(({ place, more, reason }) => ({ at: [...PLACES[place][0], ...more], reason }))
}

/** The same for the extension, with its names. */
export function oasUpstreamFlaws(extension: JsonObject): Flaw[] {
  const upstream = objectOf(extension, 'upstream')
  if (Object.values(PLACES).every(([, [section]]) => upstream[section] === undefined)) return []
  const classic: JsonObject = {}
  membersToClassic(extension, classic, {})
  upstreamToClassic(extension, classic)
  return upstreamFlaws(classic).map(({ place, more, reason }) => ({
    at: [EXTENSION, 'upstream', ...PLACES[place][1], ...more],
    reason,
  }))
}

/** The errors of an entry of `circuit_breakers`. */
export function breakerFlaws(entry: JsonObject): Flaw[] {
  const flaws: Flaw[] = []
  const threshold = numberOf(entry, 'threshold_percent')
  if (threshold <= 0 || threshold > 1)
    flaws.push({ at: ['threshold_percent'], reason: 'must be a share above 0 and at most 1, such as 0.5 for half' })
  const samples = numberOf(entry, 'samples')
  if (samples < 1 || samples > MAX_SAMPLES)
    flaws.push({ at: ['samples'], reason: `must be from 1 to ${MAX_SAMPLES} requests` })
  return flaws
}

/** The errors of `target_url`, or of `upstream.url`: nobody looks at it where targets are balanced, so that it may be missing there, or lack its scheme. */
export function targetFlaws(format: ApiDocument['format'], holder: JsonObject): Flaw[] {
  const classic = format === 'classic'
  const section = objectOf(holder, classic ? 'proxy' : 'upstream')
  const balancing = objectOf(section, 'loadBalancing')
  const targets = classic ? member(section, 'target_list') : member(balancing, 'targets')
  const isBalanced = classic ? flagOf(section, 'enable_load_balancing') : flagOf(balancing, 'enabled')
  const name = classic ? 'target_url' : 'url'
  const url = member(section, name) ?? ''
  // Other types are errors of the schema.
  if (typeof url !== 'string') return []
  if (isBalanced && !isEmpty(targets) && !url.includes('://')) return []
  if (readSocketUrl(url) !== undefined) return []
  const reason = member(section, name) === undefined ? 'is missing' : VALUES.url(url)
  return reason === undefined ? [] : [{ at: classic ? ['proxy', name] : [EXTENSION, 'upstream', name], reason }]
}

interface PlacedFlaw {
  readonly place: Place
  readonly more: TreePath
  readonly reason: string
}

function upstreamFlaws(classic: JsonObject): PlacedFlaw[] {
  return [...healthFlaws(classic), ...discoveryFlaws(classic), ...tlsFlaws(classic)]
}

function healthFlaws(classic: JsonObject): PlacedFlaw[] {
  const tests = objectOf(classic, 'uptime_tests')
  if (flagOf(tests, 'disabled')) return []
  const checks = objectsOf(tests, 'check_list')
  const origins = checks.length === 0 ? NO_ORIGINS : originsOf(classic)
  const flaws: PlacedFlaw[] = []
  checks.forEach((check, index) => {
    const reason = checkUrlFault(textOf(check, 'url'), origins)
    if (reason !== undefined) flaws.push({ place: 'checks', more: [String(index), 'url'], reason })
  })
  const config = objectOf(tests, 'config')
  for (const [place, name] of [
    ['interval', 'interval'],
    ['recheck', 'recheck_wait'],
  ] as const)
    flaws.push(...intervalFlaws(place, numberOf(config, name)))
  return flaws
}

const NO_ORIGINS: ReadonlySet<string | undefined> = new Set()

/** Those of the targets; targets that DNS names are not known here. */
function originsOf(classic: JsonObject): ReadonlySet<string | undefined> {
  const { targets, discovery } = readUpstream(classic)
  return discovery === undefined ? new Set(targets.map(({ url }) => URL.parse(url)?.origin)) : NO_ORIGINS
}

function checkUrlFault(url: string, origins: ReadonlySet<string | undefined>): string | undefined {
  if (/^\/[\x21-\x7e]*$/.test(url) && !url.includes('#')) return undefined
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(url)) return 'must be a path that begins with "/", or an absolute URL'
  const read = URL.parse(url)
  if (read !== null && (read.username !== '' || read.password !== '')) return 'must not hold a user name or password'
  return origins.has(read?.origin) ? undefined : 'is at none of the targets of this API'
}

function intervalFlaws(place: Place, seconds: number): PlacedFlaw[] {
  if (seconds === 0 || seconds >= LEAST_INTERVAL_S) return []
  return [{ place, more: [], reason: `must be at least ${LEAST_INTERVAL_S} seconds` }]
}

function discoveryFlaws(classic: JsonObject): PlacedFlaw[] {
  const rules = objectOf(objectOf(classic, 'proxy'), 'service_discovery')
  const name = textOf(rules, 'srv_name')
  if (!flagOf(rules, 'use_discovery_service') || name === '') return []
  const flaws = intervalFlaws('refresh', numberOf(rules, 'refresh_interval'))
  if (!SRV_NAME.test(name))
    flaws.push({ place: 'srvName', more: [], reason: 'must be a DNS name such as _http._tcp.orders.example' })
  return flaws
}

function tlsFlaws(classic: JsonObject): PlacedFlaw[] {
  const flaws: PlacedFlaw[] = []
  if (!flagOf(classic, 'upstream_certificates_disabled')) {
    const shown = objectOf(classic, 'upstream_certificates')
    for (const host of Object.keys(shown)) {
      if (!PIN_HOST.test(host)) flaws.push(hostFlaw('certificates', host))
      if (textOf(shown, host) === '')
        flaws.push({ place: 'certificates', more: [], reason: `must name a certificate for ${host}` })
    }
  }
  if (flagOf(classic, 'certificate_pinning_disabled')) return flaws
  const pins = objectOf(classic, 'pinned_public_keys')
  for (const host of Object.keys(pins)) {
    if (!PIN_HOST.test(host)) flaws.push(hostFlaw('pins', host))
    if (
      textOf(pins, host)
        .split(',')
        .some((text) => readPin(text.trim()) === undefined)
    ) {
      const reason = `must hold SHA-256 hashes of public keys for ${host}, in hex or as sha256/ and base64`
      flaws.push({ place: 'pins', more: [], reason })
    }
  }
  return flaws
}

function hostFlaw(place: Place, host: string): PlacedFlaw {
  return { place, more: [], reason: `${toWords([host])} is no host, host:port, *.domain or *` }
}
