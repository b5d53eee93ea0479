import { FIELD, Fields } from '../../wire/http1/fields.ts'
import { CORS_FIELDS } from './cors-fields.ts'
import type { CompiledTransform, Exchange, TrailerRules } from './exchange.ts'
import { pairsOf } from './field-lines.ts'
import { dropCors } from './respond.ts'

/**
 * The rules by which trailers pass between HTTP/2 on both sides. Trailers come behind everything that was checked, so all that steps read
 * as a credential, remove or set in a head is removed, by the same functions; `hide` takes the administration secrets out of fields.
 */
export function trailerRules(hide: (fields: Fields) => void): TrailerRules {
  let last: Answered | undefined
  return {
    forwarded(x) {
      if (x.requestTrailers === '') return ''
      const fields = fieldsOf(x.requestTrailers)
      hide(fields)
      const { verified = [], withheld, forwarded } = x.credentials
      for (const places of [verified, withheld, forwarded])
        for (const { in: kind, name } of places) {
          if (kind === 'header') fields.drop(name)
          else if (kind === 'headers') fields.dropPrefixed(name)
        }
      if (x.versionField !== '') fields.drop(x.versionField)
      for (const name of editedNames(x.requestEdits)) fields.drop(name)
      return fields.kept()
    },

    interim(x) {
      const lines = x.response.kept()
      return lines === '' ? '' : answered(x, lines).kept
    },

    answered(x) {
      const lines = x.answerTrailers ?? ''
      if (lines === '') return ''
      if (last === undefined || !isAlike(last, x)) last = answered(x, lines)
      return last.kept
    },
  }
}

/** The trailers of an answer that passed, and all that decided it. Most calls of gRPC end alike. */
interface Answered extends Pick<Exchange, 'answerTrailers' | 'corsFields'> {
  readonly hasLimits: boolean
  readonly operation: CompiledTransform | undefined
  readonly chain: CompiledTransform | undefined
  readonly kept: string
}

function isAlike(last: Answered, x: Exchange): boolean {
  return (
    last.answerTrailers === x.answerTrailers &&
    last.corsFields === x.corsFields &&
    last.hasLimits === (x.limitFields !== '') &&
    last.operation === x.operation?.responseHeaders &&
    last.chain === x.chain?.responseHeaders
  )
}

function answered(x: Exchange, lines: string): Answered {
  const { answerTrailers, corsFields } = x
  const [operation, chain] = [x.operation?.responseHeaders, x.chain?.responseHeaders]
  const hasLimits = x.limitFields !== ''
  const fields = fieldsOf(lines)
  if (hasLimits) fields.dropRange(FIELD.ratelimit, FIELD.xRatelimitReset)
  if (corsFields !== CORS_FIELDS.upstream) dropCors(fields, corsFields)
  dropEdited(fields, operation)
  dropEdited(fields, chain)
  return { ...{ answerTrailers, corsFields, hasLimits, operation, chain }, kept: fields.kept() }
}

function dropEdited(fields: Fields, edit: CompiledTransform | undefined): void {
  if (edit !== undefined) for (const name of edit.remove) fields.drop(name)
}

/** The lines of `Exchange.requestEdits` that begin with a bracket, which no field name does, list the names that an edit removes. */
function editedNames(edits: string): string[] {
  const lists = edits.split('\n').filter((line) => line.startsWith('['))
  return lists.flatMap((line) => JSON.parse(line) as string[])
}

function fieldsOf(lines: string): Fields {
  const fields = new Fields()
  for (const [name, value] of pairsOf(lines)) fields.append(name, value)
  return fields
}
