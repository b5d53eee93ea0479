import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { lostNumber } from '../../model/json/json-body.ts'

/** Texts of another product's Redis whose names are wanted. */
export type ReadEntries = (
  url: string,
  wants: (name: string) => boolean,
) => Promise<readonly { readonly name: string; readonly text: string; readonly endsInMs: number }[]>

/** Used quota by scope ('' = none), and when each window ends, in milliseconds from now (0 = unknown). */
export type Used = Readonly<Record<string, { readonly used: number; readonly ends_in_ms: number }>>

/** Entries of the source product's key space, sorted. */
export interface KeySpace {
  /** Sessions of keys and access tokens, by the name behind `apikey-`: the key, or its hash. A text says why one cannot be read. */
  readonly sessions: ReadonlyMap<string, JsonObject | string>
  /** Used quotas: by key or hash, then by scope ('' = none). */
  readonly used: ReadonlyMap<string, Used>
  /** OAuth clients by API and id. A text says why one cannot be read. */
  readonly clients: readonly {
    readonly apiId: string
    readonly clientId: string
    readonly body: JsonObject | string
  }[]
  readonly refreshTokens: number
}

const SESSION = 'apikey-'
const QUOTA = 'quota-'
const OAUTH = 'oauth-data.'
const CLIENT = '.oauth-clientid.'
const REFRESH = '.oauth-refresh.'

/** Reads a key space. @throws Fault `setting_invalid`, `store_away`, `store_refused` */
export async function readKeySpace(url: string, read: ReadEntries): Promise<KeySpace> {
  let refreshTokens = 0
  const entries = await read(url, (name) => {
    if (name.startsWith(OAUTH) && name.includes(REFRESH)) refreshTokens++
    if (name.startsWith(OAUTH)) return name.includes(CLIENT)
    return name.startsWith(SESSION) || name.startsWith(QUOTA)
  })
  const of = (prefix: string) =>
    entries
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name, text, endsInMs }): [string, string, number] => [name.slice(prefix.length), text, endsInMs])
  const sessions = new Map(of(SESSION).map(([name, text]) => [name, parsedObject(text)]))
  const clients = of(OAUTH).map(([name, text]) => {
    const at = name.indexOf(CLIENT)
    return { apiId: name.slice(0, at), clientId: name.slice(at + CLIENT.length), body: parsedObject(text) }
  })
  return { sessions, used: usedOf(of(QUOTA), sessions), clients, refreshTokens }
}

/** `quota-[<scope>-]<key or hash>`: scopes and keys may hold hyphens themselves, so the longest known key counts. */
function usedOf(quotas: readonly (readonly [string, string, number])[], sessions: ReadonlyMap<string, unknown>) {
  const used = new Map<string, Record<string, Used[string]>>()
  for (const [name, text, endsInMs] of quotas) {
    const number = Number(text)
    if (!Number.isSafeInteger(number) || number <= 0) continue
    let start = 0
    while (start < name.length && !sessions.has(name.slice(start))) {
      const next = name.indexOf('-', start)
      start = next === -1 ? name.length : next + 1
    }
    if (start >= name.length) continue
    const key = name.slice(start)
    const counts: Record<string, Used[string]> = used.get(key) ?? Object.create(null)
    counts[name.slice(0, Math.max(0, start - 1))] = { used: number, ends_in_ms: endsInMs }
    used.set(key, counts)
  }
  return used
}

function parsedObject(text: string): JsonObject | string {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? (lostNumber(text, value) ?? value) : NO_OBJECT
  } catch {
    return NO_OBJECT
  }
}

const NO_OBJECT = 'is no JSON object'
