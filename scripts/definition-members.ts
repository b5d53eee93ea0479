import { REFUSED_MEMBERS } from '../src/model/apis/check/refused-members.ts'
import { UNSUPPORTED } from '../src/model/apis/check/unsupported.ts'
import type { ApiDocument } from '../src/model/apis/definition/api.ts'
import type { Schema } from '../src/model/apis/schema/schema.ts'
import { CLASSIC_SCHEMA } from '../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../src/model/apis/schema/schema-oas.ts'
import { CLASSIC_UNSERVED } from '../src/model/apis/schema/schema-unserved-classic.ts'
import { EXTENSION_UNSERVED } from '../src/model/apis/schema/schema-unserved-oas.ts'
import { isObject, type Json } from '../src/model/json/json.ts'

type Format = ApiDocument['format']

/** A member of a definition that no gateway serves; `*` in the path for every name or entry. */
export interface UnservedMember {
  readonly path: readonly string[]
  readonly schema: Schema
  /** The warning; undefined: that it has no effect. */
  readonly reason: string | undefined
}

const SCHEMAS: Readonly<Record<Format, readonly [served: Schema, unserved: Schema]>> = {
  classic: [CLASSIC_SCHEMA, CLASSIC_UNSERVED],
  oas: [EXTENSION_SCHEMA, EXTENSION_UNSERVED],
}

/** The members that a schema knows and no gateway serves: whole sections, or with `leaves` each value in them. */
export function unservedMembers(format: Format, { leaves = false } = {}): UnservedMember[] {
  const found: UnservedMember[] = []
  const walk = (served: Schema | undefined, unserved: Schema, path: readonly string[], above?: string) => {
    const reason = typeof unserved.description === 'string' ? unserved.description : above
    const below = membersOf(unserved)
    if (served === undefined && (!leaves || below.length === 0)) {
      found.push({ path, schema: unserved, reason })
      return
    }
    for (const [name, schema] of below) {
      const own = served && membersOf(served)
      const twin = own?.find(([each]) => each === name) ?? own?.find(([each]) => each === '*' && name !== '*')
      walk(twin?.[1], schema, [...path, name], reason)
    }
  }
  const [served, unserved] = SCHEMAS[format]
  walk(served, unserved, [])
  return found
}

/** Tables for `docs/generated/definition-members.md`: title, head and rows. */
export function definitionMemberTables(): { title: string; head: string[]; rows: string[][] }[] {
  return (['oas', 'classic'] as const).flatMap((format) => {
    const name = format === 'oas' ? '`x-svc-api-gateway`' : 'Classic definitions'
    const refused = [...UNSUPPORTED, ...REFUSED_MEMBERS].flatMap((row) =>
      row[format].map(({ path }) => [`\`${path.join('.')}\``, row.feature, row.instead ?? '']),
    )
    const kept = unservedMembers(format).map(({ path, reason }) => [
      `\`${path.join('.')}\``,
      reason ?? 'has no effect on this gateway',
    ])
    return [
      {
        title: `${name}: refused when they are asked for`,
        head: ['member', 'feature', 'instead'],
        rows: sorted(refused),
      },
      { title: `${name}: kept, with a warning`, head: ['member', 'warning'], rows: sorted(kept) },
    ]
  })
}

function membersOf({ properties, items, additionalProperties }: Schema): [string, Schema][] {
  const named = isObject(properties ?? null) ? Object.entries(properties as { [name: string]: Json }) : []
  return [...named, ['*', items], ['*', additionalProperties]].flatMap(([name, schema]) =>
    isObject((schema ?? null) as Json) ? [[name, schema] as [string, Schema]] : [],
  )
}

const sorted = (rows: string[][]) => rows.sort(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0))
