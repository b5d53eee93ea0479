import type { CompiledTransform, Exchange, Step } from '../../server/exchange.ts'
import { linesWithout } from '../../server/field-lines.ts'

/** Edits the fields that are handed on: as the version says, then as the operation does, which has the last word. */
export function transformRequest(own: CompiledTransform | undefined, perOperation: boolean): Step | undefined {
  if (own === undefined && !perOperation) return undefined
  return function transformRequest(x) {
    if (own !== undefined) apply(x, own)
    if (x.operation?.requestHeaders !== undefined) apply(x, x.operation.requestHeaders)
    return undefined
  }
}

function apply(x: Exchange, edit: CompiledTransform): void {
  for (const name of edit.remove) x.request.drop(name)
  // Values that an earlier edit, a module or the previous API has set belong to the request.
  const lines = edit.linesFor === undefined ? edit.lines : edit.linesFor(x)
  x.requestExtra = linesWithout(x.requestExtra, edit.remove) + lines
  x.requestEdits += edit.linesFor === undefined ? edit.text : `${edit.text}${lines}\n`
}
