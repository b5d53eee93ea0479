import type { Definition, Json } from '../../../api/apis/apis.ts'
import type { FormValue } from '../../../parts/forms/form-values.ts'
import { isObject } from '../editor/tree.ts'

/** How a value of the form is written in a definition, over what was there. `undefined` = not there. */
export interface Codec {
  readonly read: (written: Json | undefined) => FormValue
  readonly write: (value: FormValue, held?: Json) => Json | undefined
}

export const TEXT: Codec = {
  read: (written) => (typeof written === 'string' ? written : ''),
  write: (value) => String(value),
}

export const NUMBER: Codec = {
  read: (written) => (typeof written === 'number' ? written : ''),
  write: (value) => (typeof value === 'number' ? value : undefined),
}

/** A number of which 0 says the same as nothing: the default counts. */
export const POSITIVE: Codec = {
  read: (written) => (typeof written === 'number' && written > 0 ? written : ''),
  write: NUMBER.write,
}

/** A text that is left out where it is empty. */
export const OPTIONAL: Codec = {
  read: TEXT.read,
  write: (value) => (value === '' ? undefined : String(value)),
}

export const SWITCH: Codec = {
  read: (written) => written === true,
  write: (value) => value === true,
}

/** Says "disabled" where the form says "enabled"; what is not there is enabled. */
export const OPPOSITE: Codec = {
  read: (written) => written !== true,
  write: (value) => value !== true,
}

export const LIST: Codec = {
  read: (written) => (Array.isArray(written) ? written.filter((entry) => typeof entry === 'string') : []),
  write: (value) => (Array.isArray(value) ? [...value] : []),
}

/** Numbers in a list of words; words that are no numbers are written unchanged, for the dashboard to report. */
export const NUMBERS: Codec = {
  read: (written) => (Array.isArray(written) ? written.map(String) : []),
  write: (value) => emptyIsGone(listed(value).map((word) => (/^\d{1,9}$/.test(word) ? Number(word) : word))),
}

/** Words in a list that is left out where it is empty. */
export const WORDS: Codec = {
  read: LIST.read,
  write: (value) => emptyIsGone([...listed(value)]),
}

/** Names in a map whose entries have this switch on: `{"delete": {"block": {"enabled": true}}}`. The rest of an entry stays. */
export const namesWith = (member: string): Codec => ({
  read: (written) =>
    isObject(written) ? Object.keys(written).filter((name) => switchIn(written[name], member).enabled === true) : [],
  write: (value, held) => {
    const entries = isObject(held) ? held : {}
    const on = new Set(listed(value))
    const names = [...new Set([...Object.keys(entries), ...on])]
    const made = names.flatMap((name): [string, Json][] => {
      const { [member]: _before, ...rest } = isObject(entries[name]) ? entries[name] : {}
      if (on.has(name)) return [[name, { ...rest, [member]: { ...switchIn(entries[name], member), enabled: true } }]]
      return Object.keys(rest).length === 0 ? [] : [[name, rest]]
    })
    return made.length === 0 ? undefined : Object.fromEntries(made)
  },
})

function switchIn(entry: Json | undefined, member: string): Readonly<Record<string, Json>> {
  const found = isObject(entry) ? entry[member] : undefined
  return isObject(found) ? found : {}
}

/** A map of fields as lines such as `Name: value`. */
export const FIELD_MAP: Codec = {
  read: (written) => (isObject(written) ? Object.entries(written).map(([name, value]) => `${name}: ${value}`) : []),
  write: (value) => {
    const fields = listed(value).map(fieldOf)
    return fields.length === 0 ? undefined : Object.fromEntries(fields)
  },
}

/** The same from a list of `{name, value}`. */
export const FIELD_LIST: Codec = {
  read: (written) =>
    Array.isArray(written) ? written.filter(isObject).map(({ name, value }) => `${name ?? ''}: ${value ?? ''}`) : [],
  write: (value) =>
    emptyIsGone(
      listed(value)
        .map(fieldOf)
        .map(([name, text]) => ({ name, value: text })),
    ),
}

function fieldOf(line: string): readonly [name: string, value: string] {
  const [name = '', ...rest] = line.split(':')
  return [name.trim(), rest.join(':').trim()]
}

/** An object as its JSON without blanks, so that equal ones are equal texts; an empty text for none. */
export const JSON_TEXT: Codec = {
  read: (written) => (isObject(written) ? JSON.stringify(written) : ''),
  write: (value) => (value === '' ? undefined : (JSON.parse(String(value)) as Json)),
}

/** A text in UTF-8, written in base64. What is no such thing reads as nothing. */
export const BASE64: Codec = {
  read: (written) => {
    try {
      const bytes = Uint8Array.from(atob(String(written ?? '')), (letter) => letter.charCodeAt(0))
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      return ''
    }
  },
  write: (value) => {
    const bytes = new TextEncoder().encode(String(value))
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  },
}

/** Parts of a hundred, written as a share from 0 to 1. */
export const PERCENT: Codec = {
  read: (written) => (typeof written === 'number' ? Math.round(written * 10_000) / 100 : ''),
  write: (value) => (typeof value === 'number' ? value / 100 : undefined),
}

const listed = (value: FormValue): readonly string[] => (Array.isArray(value) ? value : [])
const emptyIsGone = (list: readonly Json[]) => (list.length === 0 ? undefined : list)

const UNIT_S: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 }

/** Seconds, written as `1m30s`. */
export const DURATION: Codec = {
  read: (written) => {
    if (typeof written !== 'string') return ''
    const parts = [...written.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)]
    return parts.length === 0 ? '' : parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_S[unit!]!, 0)
  },
  write: (value) => (typeof value === 'number' ? `${value}s` : undefined),
}

const NS_PER_S = 1_000_000_000

/** Seconds, written in nanoseconds. */
export const NANOSECONDS: Codec = {
  read: (written) => (typeof written === 'number' && written > 0 ? written / NS_PER_S : ''),
  write: (value) => (typeof value === 'number' ? Math.round(value * NS_PER_S) : undefined),
}

/** Targets with weights, one a line: `https://a.example 3`. */
export const WEIGHTED: Codec = {
  read: (written) =>
    Array.isArray(written)
      ? written.filter(isObject).map(({ url, weight }) => line(String(url ?? ''), Number(weight ?? 1)))
      : [],
  write: (value) => parts(value).map(([url, weight]) => ({ url, weight })),
}

/** The same in a list that repeats a target by its weight. */
export const REPEATED: Codec = {
  read: (written) => {
    const weights = new Map<string, number>()
    for (const url of Array.isArray(written) ? written : [])
      weights.set(String(url), (weights.get(String(url)) ?? 0) + 1)
    return [...weights].map(([url, weight]) => line(url, weight))
  },
  write: (value) => parts(value).flatMap(([url, weight]) => Array<string>(weight).fill(url)),
}

const line = (url: string, weight: number) => (weight === 1 ? url : `${url} ${weight}`)

function parts(value: FormValue): (readonly [string, number])[] {
  const lines = Array.isArray(value) ? value : []
  return lines.map((each) => {
    const [url = '', weight] = String(each).trim().split(/\s+/)
    return [url, Math.min(100, Math.max(1, Math.trunc(Number(weight ?? 1)) || 1))] as const
  })
}

/** Text of a definition in the editor. */
export function textOf(definition: Definition): string {
  return JSON.stringify(definition, null, 2)
}
