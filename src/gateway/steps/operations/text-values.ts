import type { ScalarKind, ValueShape } from '../../../model/apis/definition/operation.ts'
import { readTrafficJson } from '../../server/json-flaw.ts'

const DECODER = new TextDecoder('utf-8', { fatal: true })

const NO_JSON = 'must be JSON in UTF-8'

/** A value as texts: whose kinds its schema tells. */
export type Spelled = string | readonly Spelled[] | ReadonlyMap<string, Spelled>

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Deepest brackets of a name (`a[b][c]`). */
const MAX_BRACKETS = 10
const TEXT: ValueShape = { scalars: ['text'], items: undefined, members: undefined, rest: undefined }

/** The values that texts can mean by the kinds that their schema takes, at least one; what fits none stays a text, for the schema to refuse. */
export function valuesOf(spelled: Spelled, shape: ValueShape): unknown[] {
  if (typeof spelled === 'string') {
    const values = shape.scalars.flatMap((kind) => scalarOf(spelled, kind))
    if (shape.members !== undefined || shape.items !== undefined) values.push(...structured(spelled))
    return values.length > 0 ? values : [spelled]
  }
  const kinded = converted(spelled, shape, false)
  return holdsChoice(shape) ? [kinded, converted(spelled, shape, true)] : [kinded]
}

function scalarOf(text: string, kind: ScalarKind): unknown[] {
  if (kind === 'text') return [text]
  if (kind === 'number' || kind === 'integer') return NUMBER.test(text) ? [Number(text)] : []
  if (kind === 'null') return text === '' || text === 'null' ? [null] : []
  return text === 'true' || text === 'false' ? [text === 'true'] : []
}

/** A list or an object that is sent as JSON. */
function structured(text: string): unknown[] {
  if (!/^\s*[[{]/.test(text)) return []
  const read = jsonValue(Buffer.from(text))
  return 'value' in read ? [read.value] : []
}

/** With `asText` what may be a text is one, else what may be something else is that. */
function converted(spelled: Spelled, shape: ValueShape, asText: boolean): unknown {
  if (typeof spelled === 'string')
    return asText && shape.scalars.includes('text') ? spelled : valuesOf(spelled, shape)[0]
  if (spelled instanceof Map) {
    const entries = [...(spelled as ReadonlyMap<string, Spelled>)]
    return Object.fromEntries(
      entries.map(([name, value]) => [name, converted(value, memberShape(shape, name) ?? TEXT, asText)]),
    )
  }
  return (spelled as readonly Spelled[]).map((value) => converted(value, shape.items ?? TEXT, asText))
}

/** True where an item or member may be a text or something else. */
function holdsChoice({ scalars, items, members, rest }: ValueShape): boolean {
  if (scalars.includes('text') && scalars.length > 1) return true
  if ([items, rest].some((inner) => inner !== undefined && holdsChoice(inner))) return true
  return members !== undefined && [...members.values()].some(holdsChoice)
}

/** The shape of a member of an object; undefined where its schema does not say. */
export function memberShape(shape: ValueShape | undefined, name: string): ValueShape | undefined {
  return shape?.members?.get(name) ?? shape?.rest
}

/** Texts under a name with brackets. */
interface Named {
  readonly texts: string[]
  readonly inner: Map<string, Named>
}

/**
 * Puts together what names with brackets say of one value (`deepObject`, and nested forms): `a[b]=1&a[c][]=2`. Undefined when none of the
 * pairs speaks of the name, or one is nested too deep.
 */
export function bracketed(
  name: string,
  pairs: Iterable<readonly [name: string, text: string]>,
  shape: ValueShape,
): Spelled | undefined {
  const whole: Named = { texts: [], inner: new Map() }
  let isThere = false
  for (const [key, text] of pairs) {
    if (!key.startsWith(`${name}[`) || !key.endsWith(']')) continue
    const steps = key.slice(name.length + 1, -1).split('][')
    if (steps.length > MAX_BRACKETS) return undefined
    isThere = true
    let at = whole
    for (const step of steps) {
      const next = at.inner.get(step) ?? { texts: [], inner: new Map() }
      at.inner.set(step, next)
      at = next
    }
    at.texts.push(text)
  }
  return isThere ? spelledOf(whole, shape) : undefined
}

function spelledOf({ texts, inner }: Named, shape: ValueShape | undefined): Spelled {
  if (inner.size === 0) return texts.length === 1 && shape?.items === undefined ? texts[0]! : texts
  const keys = [...inner.keys()]
  if (shape?.items !== undefined && keys.every((key) => /^\d*$/.test(key))) {
    const items = keys
      .sort((a, b) => Number(a) - Number(b))
      .flatMap((key): Spelled[] => {
        const item = inner.get(key)!
        return item.inner.size === 0 ? item.texts : [spelledOf(item, shape.items)]
      })
    return [...texts, ...items]
  }
  return new Map(keys.map((key) => [key, spelledOf(inner.get(key)!, memberShape(shape, key))]))
}

/** Reads bytes as JSON without members that are named twice. */
export function jsonValue(bytes: Uint8Array): { readonly value: unknown } | { readonly reason: string } {
  try {
    const read = readTrafficJson(DECODER.decode(bytes))
    return 'value' in read ? { value: read.value } : { reason: read.reason ?? NO_JSON }
  } catch {
    return { reason: NO_JSON }
  }
}
