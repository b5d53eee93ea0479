import type { JsonObject } from '../../json/json.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import type { TreePath } from '../definition/tree.ts'
import type { Described, DescribedOperation } from './described.ts'
import { ExampleMaker } from './example-of-schema.ts'

/** Creates the index of a document's operations at its first use. */
export function describedBy(document: JsonObject, root: TreePath): Described {
  const examples = new ExampleMaker(document, root)
  let index: Map<string, DescribedOperation> | undefined
  const find = (method: string, path: string) => {
    index ??= new Map(
      operationsOf(document).map((operation) => {
        const itemAt = ['paths', operation.path]
        const at = [...itemAt, operation.method.toLowerCase()]
        return [`${operation.method} ${operation.path}`, { document, root, at, itemAt, examples }]
      }),
    )
    return index.get(`${method} ${path}`)
  }
  return { find, list: () => operationsOf(document) }
}
