import type { Api, AuthRules } from '../../model/apis/definition/api.ts'
import type { SecretNames } from '../../model/secrets/redact-traffic.ts'
import type { AccessLog } from './access-log.ts'
import type { RecordSampler } from './record-sampler.ts'
import type { Sample } from './sample.ts'

/** How the single requests of one chain are recorded. */
export class RecordPlan {
  readonly orgId: string
  readonly apiId: string
  readonly apiName: string
  readonly auth: AuthRules | undefined
  /** Where the API reads credentials; other secrets are found by name. */
  readonly secretNames: SecretNames
  /** True when heads and bodies are recorded too. */
  readonly detailed: boolean
  /** Decides of which requests the steps are timed. */
  readonly timing: RecordSampler | undefined
  /** Requests since the last flush that were not recorded. */
  dropped = 0

  constructor(api: Api, everythingDetailed: boolean, timing?: RecordSampler) {
    const { auth } = api
    this.orgId = api.orgId
    this.apiId = api.apiId
    this.apiName = api.name
    this.auth = auth
    this.timing = timing
    this.detailed = everythingDetailed || api.record?.detailed === true
    const places = auth === undefined ? [] : [auth.header, auth.query, auth.cookie]
    const stripped = auth === undefined ? [] : [...auth.stripHeaders, ...auth.stripQueries, ...auth.stripCookies]
    this.secretNames = sharedNames(
      [...places, ...stripped].filter((name) => name !== undefined && name !== '').map((name) => name!.toLowerCase()),
    )
  }
}

/** Module state: a cache of immutable values: sets by the names in them. APIs that look alike share one: each takes 230 bytes. */
const NAMES = new Map<string, SecretNames>()
const MOST_SETS = 1000

function sharedNames(names: readonly string[]): SecretNames {
  const key = JSON.stringify(names)
  const known = NAMES.get(key)
  if (known !== undefined) return known
  if (NAMES.size >= MOST_SETS) NAMES.clear()
  const made = new Set(names)
  NAMES.set(key, made)
  return made
}

/** Counts each finished request in all three places: hits, metrics, access log. */
export class Recorder {
  /** Filled and handed to `count` synchronously when a request finishes: only one request at a time fills it. */
  readonly sample: Sample
  readonly #log: AccessLog | undefined

  constructor(sample: Sample, log: AccessLog | undefined) {
    this.sample = sample
    this.#log = log
  }

  /** Counts one finished request, once: into its hits, its API's metrics and the access log. Keeps nothing of the sample. */
  count(sample: Sample): void {
    sample.hits?.add(sample.status, sample.totalMs, sample.upstreamMs, sample.wallMs)
    sample.metrics?.add(sample.status, sample.totalMs, sample.upstreamMs, sample.passedOn)
    if (sample.cutBy !== '') sample.metrics?.cut(sample.cutBy)
    this.#log?.push(sample)
  }
}
