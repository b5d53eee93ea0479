import type { FormValues } from '../../../parts/forms/form-values.ts'
import { isObject } from '../editor/tree.ts'
import { type Codec, DURATION, JSON_TEXT, NUMBERS, OPPOSITE, OPTIONAL, POSITIVE, WORDS } from './codec.ts'
import type { Setting, SettingEntry } from './setting.ts'

type Row = Omit<Setting, 'oas' | 'classic'> & { readonly at: readonly [oas: string, classic: string] }

/** Settings below one place of each format. */
const below =
  (oas: string, classic: string, when?: Setting['when']) =>
  ({ at, ...rest }: Row): Setting => ({
    ...(when !== undefined && { when }),
    ...rest,
    ...{ oas: `${oas}.${at[0]}`, classic: classic === '' ? at[1] : `${classic}.${at[1]}` },
  })

/** A time: `10s` in OpenAPI, seconds in the classic format. */
const TIME = { kind: 'number', oasAs: DURATION, classicAs: POSITIVE, unit: 's' } as const

const STATUSES = { kind: 'list', oasAs: NUMBERS, classicAs: NUMBERS } as const

/** Which answers are kept: both of the switches that say so, in one word. */
const keeping = (on: string, all: string): Codec => ({
  read: (written) => {
    return !isObject(written) || written[on] !== true ? 'none' : written[all] === true ? 'all' : 'operations'
  },
  write: (value, held) => ({
    ...(isObject(held) ? held : {}),
    ...{ [on]: value !== 'none', [all]: value === 'all' },
  }),
})

const keepsAny = ({ cacheKeep }: FormValues) => cacheKeep !== 'none'
const cached = below('middleware.global.cache', 'cache_options', keepsAny)
const SECONDS = { kind: 'number', oasAs: POSITIVE, classicAs: POSITIVE, unit: 's' } as const

/** Answers that are kept and given again. */
export const CACHE: readonly SettingEntry[] = [
  {
    ...{ name: 'cacheKeep', kind: 'choice', words: ['none', 'operations', 'all'] },
    ...{ oas: 'middleware.global.cache', oasAs: keeping('enabled', 'cacheAllSafeRequests') },
    ...{ classic: 'cache_options', classicAs: keeping('enable_cache', 'cache_all_safe_requests') },
  },
  cached({ ...SECONDS, name: 'cacheFor', at: ['timeout', 'cache_timeout'], placeholder: '0 s' }),
  cached({
    ...{ name: 'cacheUpstream', kind: 'switch' },
    at: ['enableUpstreamCacheControl', 'enable_upstream_cache_control'],
  }),
  cached({
    ...{ name: 'cacheHeader', kind: 'text', oasAs: OPTIONAL, classicAs: OPTIONAL },
    ...{ at: ['controlTTLHeaderName', 'cache_control_ttl_header'] },
    when: (all) => keepsAny(all) && all.cacheUpstream === true,
  }),
  cached({ ...STATUSES, name: 'cacheStatuses', at: ['cacheResponseCodes', 'cache_response_codes'] }),
  cached({
    ...{ name: 'cacheByHeaders', kind: 'list', oasAs: WORDS, classicAs: WORDS },
    at: ['cacheByHeaders', 'cache_by_headers'],
  }),
  cached({ name: 'cacheShared', kind: 'switch', at: ['shareBetweenKeys', 'share_between_keys'] }),
  cached({ name: 'cacheCookies', kind: 'switch', at: ['storeSetCookie', 'store_set_cookie'] }),
  cached({
    ...SECONDS,
    name: 'cacheStale',
    at: ['staleWhileRevalidate', 'stale_while_revalidate'],
    placeholder: '0 s',
  }),
  cached({ ...SECONDS, name: 'cacheStaleError', at: ['staleIfError', 'stale_if_error'], placeholder: '0 s' }),
  { part: 'purge' },
]

/** The classic format asks as soon as there is anything to ask: only a section that is not there is off. */
const CHECKS_ON: Codec = {
  read: (written) => isObject(written) && written.disabled !== true,
  write: (value, held) => ({ ...(isObject(held) ? held : {}), disabled: value !== true }),
}

const checked = below('upstream.uptimeTests', 'uptime_tests.config', 'checked')
const ejected = below('upstream.outlierEjection', 'proxy.outlier_ejection', 'ejected')
const retried = below('upstream.retries', 'proxy.retries', 'retried')

/** The settings for failing upstream targets. */
export const UPSTREAM_RESILIENCE: readonly SettingEntry[] = [
  { above: 'checking' },
  {
    ...{ name: 'checked', kind: 'switch', oas: 'upstream.uptimeTests.enabled' },
    ...{ classic: 'uptime_tests', classicAs: CHECKS_ON },
  },
  { part: 'checks', when: 'checked' },
  checked({ ...TIME, name: 'checkEvery', at: ['interval', 'interval'], placeholder: '10 s' }),
  checked({ ...TIME, name: 'checkDownEvery', at: ['hostDownRetestPeriod', 'recheck_wait'] }),
  checked({
    ...{ name: 'checkFailures', kind: 'number', oasAs: POSITIVE, classicAs: POSITIVE, placeholder: '3' },
    at: ['unhealthyThreshold', 'failure_threshold'],
  }),
  checked({
    ...{ name: 'checkSuccesses', kind: 'number', oasAs: POSITIVE, classicAs: POSITIVE, placeholder: '2' },
    at: ['healthyThreshold', 'success_threshold'],
  }),
  {
    ...{ name: 'skipDown', kind: 'switch', oas: 'upstream.loadBalancing.skipUnavailableHosts', when: 'checked' },
    classic: 'proxy.check_host_against_uptime_tests',
  },
  { above: 'ejection' },
  {
    ...{ name: 'ejected', kind: 'switch', oas: 'upstream.outlierEjection.enabled' },
    classic: 'proxy.outlier_ejection.enabled',
  },
  ejected({
    ...{ name: 'ejectAfter', kind: 'number', oasAs: POSITIVE, classicAs: POSITIVE, placeholder: '5' },
    at: ['consecutiveFailures', 'consecutive_failures'],
  }),
  ejected({ ...TIME, name: 'ejectFor', at: ['baseTime', 'base_time'], placeholder: '30 s' }),
  ejected({ ...TIME, name: 'ejectMost', at: ['maxTime', 'max_time'], placeholder: '300 s' }),
  ejected({
    ...{ name: 'ejectShare', kind: 'number', unit: '%', max: 100, placeholder: '50 %' },
    at: ['maxPercent', 'max_percent'],
  }),
  { above: 'retries' },
  { name: 'retried', kind: 'switch', oas: 'upstream.retries.enabled', classic: 'proxy.retries.enabled' },
  retried({
    ...{ name: 'retryTimes', kind: 'number', oasAs: POSITIVE, classicAs: POSITIVE, placeholder: '2' },
    at: ['attempts', 'attempts'],
  }),
  retried({ ...STATUSES, name: 'retryStatuses', at: ['statuses', 'statuses'] }),
  retried({
    ...{ name: 'retryBudget', kind: 'number', unit: '%', max: 100, placeholder: '20 %' },
    at: ['budgetPercent', 'budget_percent'],
  }),
  retried({ name: 'retryLeast', kind: 'number', at: ['minPerSecond', 'min_per_second'], placeholder: '10' }),
]

/** Who the gateway is to its upstream, and who the upstream must be. */
export const CERTIFICATES: readonly SettingEntry[] = [
  {
    ...{ name: 'showing', kind: 'switch', oas: 'upstream.mutualTLS.enabled' },
    ...{ classic: 'upstream_certificates_disabled', classicAs: OPPOSITE },
  },
  { part: 'shown', when: 'showing' },
  {
    ...{ name: 'pinned', kind: 'switch', oas: 'upstream.certificatePinning.enabled' },
    ...{ classic: 'certificate_pinning_disabled', classicAs: OPPOSITE },
  },
  { part: 'pins', when: 'pinned' },
]

/** The event handlers of the API. */
export const EVENT_SETTINGS: readonly SettingEntry[] = [{ part: 'handlers' }]

/** Code of users that requests and answers pass. */
export const MODULE_SETTINGS: readonly SettingEntry[] = [
  { part: 'modules' },
  {
    ...{ name: 'moduleTold', kind: 'switch', oas: 'middleware.global.pluginConfig.data.enabled' },
    ...{ classic: 'config_data_disabled', classicAs: OPPOSITE },
  },
  {
    ...{ name: 'moduleConfig', kind: 'json', when: 'moduleTold' },
    ...{ oas: 'middleware.global.pluginConfig.data.value', oasAs: JSON_TEXT },
    ...{ classic: 'config_data', classicAs: JSON_TEXT },
  },
]
