import type { Definition, Json } from '../../api/apis.ts'
import type { FormValue } from '../../parts/form-values.ts'
import { isObject } from './tree.ts'

/** How a value of the form is written in a definition. `undefined` = not there. */
export interface Codec {
  readonly read: (written: Json | undefined) => FormValue
  readonly write: (value: FormValue) => Json | undefined
}

export const TEXT: Codec = {
  read: (written) => (typeof written === 'string' ? written : ''),
  write: (value) => String(value),
}

export const NUMBER: Codec = {
  read: (written) => (typeof written === 'number' ? written : ''),
  write: (value) => (typeof value === 'number' ? value : undefined),
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

/** Targets with weights, one a line: `https://a.example 3`. */
export const WEIGHTED: Codec = {
  read: (written) =>
    Array.isArray(written)
      ? written.filter(isObject).map(({ url, weight }) => line(String(url ?? ''), Number(weight ?? 1)))
      : [],
  write: (value) => parts(value).map(([url, weight]) => ({ url, weight })),
}

/** The same in a list in which a target stands as often as it weighs. */
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
