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

/** What the API before has added is the request's, for the one that it was led on to. */
function withoutFields(lines: string, names: readonly string[]): string {
  const kept = lines.split('\r\n').filter((line) => !names.includes(line.slice(0, line.indexOf(':')).toLowerCase()))
  return kept.join('\r\n')
}

function apply(x: Exchange, edit: CompiledTransform): void {
  for (const name of edit.remove) x.request.drop(name)
  // So are the cookies that are left where credentials were taken out of them.
  if (x.requestExtra !== '' && (x.hops > 0 || edit.remove.includes('cookie')))
    x.requestExtra = withoutFields(x.requestExtra, edit.remove)
  x.requestExtra += edit.lines
  x.requestEdits += edit.text
}
