import type { Api, CacheRules } from '../../model/apis/definition/api.ts'
import { schemeOfRules } from '../../model/authentication/schemes.ts'
import type { Clock } from '../../model/time/clock.ts'
import type { ApiResponses } from './api-responses.ts'
import type { ResponseCache } from './response-cache.ts'
import { actionFields } from './storable.ts'

/** The context of storing the responses of one version of an API. */
export interface ChainCache {
  readonly pool: ResponseCache
  readonly responses: ApiResponses
  readonly rules: CacheRules
  readonly clock: Clock
  /** Fields of upstreams (lower case) that are no part of a stored answer. */
  readonly unstored: ReadonlySet<string>
  /** Our word and its aliases, with which upstreams may name their fields for the cache. */
  readonly words: readonly string[]
  /** Line that tells callers in the first alias' word that an answer was stored; '' without an alias. */
  readonly aliasMark: string
  /** True where an `Authorization` is what the caller was identified by, and nothing else. */
  readonly ownAuthorization: boolean
  /** True where callers with one session have sent one credential. */
  readonly oneCredential: boolean
}

/** Age is recalculated; limits come from the gateway or belong to another caller. */
const UNSTORED: ReadonlySet<string> = new Set([
  'age',
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
])

const fieldsOfWord = (word: string) => [`x-${word}-cached-response`, ...actionFields(word)]
const capital = (word: string) => word[0]!.toUpperCase() + word.slice(1)
/** Opens the cache of one version of an API; undefined when none of its answers is stored. */
export function openChainCache(
  api: Api,
  perOperation: boolean,
  pool: ResponseCache,
  clock: Clock,
  words: readonly string[],
): ChainCache | undefined {
  const { cache: rules, auth } = api
  if (rules === undefined || (!rules.allSafe && !perOperation) || pool.bounds.maxBytes === 0) return undefined
  const hasOneScheme = auth !== undefined && auth.alternatives === undefined && auth.certificate !== true
  // Where the key came another way, the field was not verified, and the upstream does not get it.
  const there = auth?.header === 'authorization'
  const oneCredential = hasOneScheme && schemeOfRules(auth).identifies
  return {
    pool,
    responses: pool.open(api.apiId),
    rules,
    clock,
    unstored: new Set([...UNSTORED, ...words.flatMap(fieldsOfWord)]),
    words,
    aliasMark: words[1] === undefined ? '' : `X-${capital(words[1])}-Cached-Response: 1\r\n`,
    ownAuthorization: oneCredential && there && !rules.shared,
    oneCredential,
  }
}
