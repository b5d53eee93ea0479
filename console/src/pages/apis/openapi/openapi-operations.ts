import type { Definition } from '../../../api/apis/apis.ts'
import { isSame } from '../../../parts/forms/same.ts'
import { EXTENSION, isObject, objectAt, textAt } from '../editor/tree.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** One operation of an OpenAPI document. */
export interface Operation {
  readonly key: string
  readonly method: string
  readonly path: string
  /** '' = none. */
  readonly id: string
  readonly summary: string
  readonly definition: Definition
  /** Its gateway settings. */
  readonly settings: Definition
}

/** The operations of a document in its order. */
export function operationsOf(document: Definition): readonly Operation[] {
  const settings = objectAt(document, [EXTENSION, 'middleware', 'operations'])
  return Object.entries(objectAt(document, ['paths'])).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const definition = isObject(item) ? item[method] : undefined
      if (!isObject(definition)) return []
      const id = textAt(definition, ['operationId'])
      return [
        {
          ...{ key: `${method} ${path}`, method: method.toUpperCase(), path, id, definition },
          summary: textAt(definition, ['summary']),
          settings: id !== '' && isObject(settings[id]) ? settings[id] : {},
        },
      ]
    }),
  )
}

/** An operation with what an import does to it. */
export interface Compared extends Operation {
  readonly change: 'added' | 'changed' | 'removed' | 'same'
  /** It has gateway settings: they are kept, or removed with the operation. */
  readonly kept: 'none' | 'kept' | 'lost'
}

const ORDER = { removed: 0, changed: 1, added: 2, same: 3 } as const

/** The changes of an import to each operation: changed ones come first. An operation that moved keeps its id. */
export function compareOperations(before: Definition, after: Definition): readonly Compared[] {
  const old = operationsOf(before)
  const byKey = new Map(old.map((operation) => [operation.key, operation]))
  const byId = new Map(old.filter(({ id }) => id !== '').map((operation) => [operation.id, operation]))
  const met = new Set<string>()
  const now = operationsOf(after).map((operation): Compared => {
    const was = byId.get(operation.id) ?? byKey.get(operation.key)
    if (was === undefined) return { ...operation, change: 'added', kept: 'none' }
    met.add(was.key)
    const isEqual = was.key === operation.key && isSame(was.definition, operation.definition)
    return { ...operation, change: isEqual ? 'same' : 'changed', kept: keptOf(was, operation) }
  })
  const gone = old
    .filter(({ key }) => !met.has(key))
    .map((operation): Compared => ({ ...operation, change: 'removed', kept: keptOf(operation, undefined) }))
  return [...gone, ...now].sort((a, b) => ORDER[a.change] - ORDER[b.change])
}

function keptOf(was: Operation, now: Operation | undefined): Compared['kept'] {
  if (Object.keys(was.settings).length === 0) return 'none'
  return now !== undefined && isSame(was.settings, now.settings) ? 'kept' : 'lost'
}
