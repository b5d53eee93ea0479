import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { member, setMember } from '../definition/tree.ts'
import { durationMs, durationText } from '../definition/values.ts'
import { type Codec, copyPairs, DURATION, pair } from './convert-pairs.ts'
import { opposite, section, switchesToClassic, switchesToOas } from './convert-table.ts'

const NS_PER_MS = 1_000_000

/** Nanoseconds and `10s`. */
const NANOSECONDS: Codec = {
  toOas: (value) => (typeof value === 'number' ? durationText(value / NS_PER_MS / 1000) : undefined),
  toClassic: (value) => {
    const ms = typeof value === 'string' ? durationMs(value) : undefined
    return ms === undefined ? undefined : ms * NS_PER_MS
  },
}

const CHECK_PAIRS = [
  pair('url', 'url'),
  pair('method', 'method'),
  pair('headers', 'headers'),
  pair('body', 'body'),
  pair('timeout', 'timeout', NANOSECONDS),
  pair('expected_statuses', 'expectedStatuses'),
]

const CHECKS: Codec = {
  toOas: (value) => eachObject(value, (check) => paired(check, 'toOas')),
  toClassic: (value) => eachObject(value, (check) => paired(check, 'toClassic')),
}

function paired(check: JsonObject, way: 'toOas' | 'toClassic'): JsonObject {
  const written: JsonObject = {}
  copyPairs(CHECK_PAIRS, check, written, way)
  return written
}

function eachObject(value: Json, change: (each: JsonObject) => JsonObject): Json | undefined {
  return Array.isArray(value) ? value.filter(isObject).map(change) : undefined
}

/** `{host: id}` and `[{domain, certificate}]`. */
const CERTIFICATES: Codec = byDomain('certificate', {
  toOas: (value) => value,
  toClassic: (value) => value,
})

/** The same under the name that other gateways give it. */
const ONLY_READ: Codec = { ...CERTIFICATES, toOas: () => undefined }

/** `{host: "a,b"}` and `[{domain, publicKeys: [a, b]}]`. */
const PINS: Codec = byDomain('publicKeys', {
  toOas: (value) => (typeof value === 'string' ? value.split(',').map((each) => each.trim()) : undefined),
  toClassic: (value) => (Array.isArray(value) ? value.join(',') : undefined),
})

function byDomain(name: string, as: Codec): Codec {
  return {
    toOas: (value) => {
      if (!isObject(value)) return undefined
      return Object.keys(value).map((domain) => ({ domain, [name]: as.toOas(member(value, domain) ?? '') ?? null }))
    },
    toClassic: (value) => {
      if (!Array.isArray(value)) return undefined
      const map: JsonObject = {}
      for (const entry of value) {
        const domain = member(entry, 'domain')
        if (typeof domain === 'string') setMember(map, domain, as.toClassic(member(entry, name) ?? '') ?? '')
      }
      return map
    },
  }
}

const PAIRS = [
  pair('uptime_tests.check_list', 'upstream.uptimeTests.tests', CHECKS),
  pair('uptime_tests.config.interval', 'upstream.uptimeTests.interval', DURATION),
  pair('uptime_tests.config.recheck_wait', 'upstream.uptimeTests.hostDownRetestPeriod', DURATION),
  pair('uptime_tests.config.failure_threshold', 'upstream.uptimeTests.unhealthyThreshold'),
  pair('uptime_tests.config.success_threshold', 'upstream.uptimeTests.healthyThreshold'),
  ...section(
    'proxy.outlier_ejection',
    'upstream.outlierEjection',
    'enabled consecutive_failures=consecutiveFailures max_percent=maxPercent',
  ),
  pair('proxy.outlier_ejection.base_time', 'upstream.outlierEjection.baseTime', DURATION),
  pair('proxy.outlier_ejection.max_time', 'upstream.outlierEjection.maxTime', DURATION),
  ...section(
    'proxy.retries',
    'upstream.retries',
    'enabled attempts statuses budget_percent=budgetPercent min_per_second=minPerSecond',
  ),
  pair('proxy.service_discovery.srv_name', 'upstream.serviceDiscovery.srvName'),
  pair('proxy.service_discovery.refresh_interval', 'upstream.serviceDiscovery.refreshInterval', DURATION),
  pair('upstream_certificates', 'upstream.mutualTLS.domainToCertificateMapping', ONLY_READ),
  pair('upstream_certificates', 'upstream.mutualTLS.domainToCertificates', CERTIFICATES),
  pair('pinned_public_keys', 'upstream.certificatePinning.domainToPublicKeysMapping', PINS),
]

const SWITCHES = [
  opposite('uptime_tests.disabled', 'upstream.uptimeTests.enabled'),
  opposite('upstream_certificates_disabled', 'upstream.mutualTLS.enabled'),
  opposite('certificate_pinning_disabled', 'upstream.certificatePinning.enabled'),
]

/** Writes the resilience rules of a classic definition into the extension. */
export function upstreamToOas(classic: JsonObject, extension: JsonObject): void {
  copyPairs(PAIRS, classic, extension, 'toOas')
  switchesToOas(SWITCHES, classic, extension)
}

/** Writes what the extension says of it into a classic definition. */
export function upstreamToClassic(extension: JsonObject, classic: JsonObject): void {
  copyPairs(PAIRS, extension, classic, 'toClassic')
  switchesToClassic(SWITCHES, extension, classic)
}
