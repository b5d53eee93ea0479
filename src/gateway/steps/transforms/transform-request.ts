import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { CompiledTransform, Exchange, Step } from '../../server/exchange.ts'
import { linesWithout } from '../../server/field-lines.ts'

const TOO_LONG = prebuilt('request_malformed', 'the values that it gives to headers are too long')

/** Edits the fields that are handed on: as the version says, then as the operation does, which has the last word. */
export function transformRequest(own: CompiledTransform | undefined, perOperation: boolean): Step | undefined {
  if (own === undefined && !perOperation) return undefined
  return function transformRequest(x) {
    const refused = own && apply(x, own)
    if (refused !== undefined) return refused
    return x.operation?.requestHeaders && apply(x, x.operation.requestHeaders)
  }
}

function apply(x: Exchange, edit: CompiledTransform): Fault | undefined {
  for (const name of edit.remove) x.request.drop(name)
  // Values that an earlier edit, a module or the previous API has set belong to the request.
  const lines = edit.linesFor === undefined ? edit.lines : edit.linesFor(x)
  if (lines === undefined) return TOO_LONG
  x.requestExtra = linesWithout(x.requestExtra, edit.remove) + lines
  x.requestEdits += edit.linesFor === undefined ? edit.text : `${edit.text}${lines}\n`
  return undefined
}
