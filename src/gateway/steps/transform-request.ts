import type { CompiledTransform, Exchange, Step } from '../exchange.ts'

/** Edits the fields that are handed on: the version's, then the operation's. */
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
  x.requestExtra += edit.lines
}
