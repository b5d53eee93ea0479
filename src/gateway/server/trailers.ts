import { FIELD, Fields } from '../../wire/http1/fields.ts'
import { CORS_FIELDS } from './cors-fields.ts'
import type { CompiledTransform, TrailerRules } from './exchange.ts'
import { pairsOf } from './field-lines.ts'
import { dropCors } from './respond.ts'

/**
 * What passes of trailers between HTTP/2 on both sides. They come behind everything that was checked, so all that steps read as a
 * credential, remove or set in a head goes, by the same functions; `hide` takes the administration secrets out of fields.
 */
export function trailerRules(hide: (fields: Fields) => void): TrailerRules {
  return {
    forwarded(x) {
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

    answered(x) {
      const fields = fieldsOf(x.answerTrailers ?? '')
      if (x.limitFields !== '') fields.dropRange(FIELD.ratelimit, FIELD.xRatelimitReset)
      if (x.corsFields !== CORS_FIELDS.upstream) dropCors(fields, x.corsFields)
      dropEdited(fields, x.operation?.responseHeaders)
      dropEdited(fields, x.chain?.responseHeaders)
      return fields.kept()
    },
  }
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
