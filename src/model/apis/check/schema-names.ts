import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { getAt, type TreePath } from '../definition/tree.ts'
import { targetOf } from '../openapi/effective-schema.ts'

/** Members of a schema that hold values, not schemas. */
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum'])
const NAMED = /^\$(?:id|anchor|dynamicAnchor|recursiveAnchor)$/

/** Finds the schemas of a document by the names that references have for them. */
export class SchemaNames {
  readonly #document: JsonObject
  /** Paths of the schemas with an `$id`, and of those with an anchor, by name. */
  #known: { readonly ids: Map<string, TreePath>; readonly anchors: Map<string, TreePath[]> } | undefined

  constructor(document: JsonObject) {
    this.#document = document
  }

  /** Path of what `#` means within the schema at a path: the nearest one around it that has an `$id`. */
  baseOf(at: TreePath): TreePath {
    const { ids } = this.#names()
    if (ids.size === 0) return []
    for (let length = at.length; length > 0; length--) {
      const holder = getAt(this.#document, at.slice(0, length))
      if (isObject(holder) && isId(holder.$id)) return at.slice(0, length)
    }
    return []
  }

  /** Path of the schema that a reference names, or why there is none. */
  find(reference: string, base: TreePath, keyword: string): TreePath | string {
    const [uri = '', fragment = ''] = reference.split('#', 2)
    const resource = uri === '' ? base : this.#names().ids.get(uri)
    if (resource === undefined) return `refers to ${reference.slice(0, 200)}, which is not in the document`
    if (fragment === '') return resource
    if (!fragment.startsWith('/')) return this.#anchored(fragment, keyword)
    const inner = targetOf(`#${fragment}`)!
    for (const at of [[...resource, ...inner], inner]) if (getAt(this.#document, at) !== undefined) return at
    return `refers to ${reference.slice(0, 200)}, which is not there`
  }

  #anchored(name: string, keyword: string): TreePath | string {
    const places = this.#names().anchors.get(name) ?? []
    if (places.length === 1) return places[0]!
    return places.length === 0
      ? `refers to #${name.slice(0, 200)}, which is not there`
      : `${keyword} #${name.slice(0, 200)} may be one of ${places.length} schemas`
  }

  #names() {
    if (this.#known !== undefined) return this.#known
    const known = { ids: new Map<string, TreePath>(), anchors: new Map<string, TreePath[]>() }
    const twice = new Set<string>()
    const at: string[] = []
    const note = (name: string, text: string): void => {
      const id = text.replace(/#$/, '')
      if (name !== '$id') known.anchors.set(text, [...(known.anchors.get(text) ?? []), [...at]])
      else if (known.ids.has(id)) twice.add(id)
      else if (isId(text)) known.ids.set(id, [...at])
    }
    const walk = (value: Json): void => {
      if (typeof value !== 'object' || value === null) return
      for (const name of Object.keys(value)) {
        const inner = (value as JsonObject)[name]!
        if (typeof inner === 'string') {
          if (NAMED.test(name)) note(name, inner)
        } else if (!VALUES.has(name)) {
          at.push(name)
          walk(inner)
          at.pop()
        }
      }
    }
    walk(this.#document)
    // Which of two is meant, nobody can say.
    for (const id of twice) known.ids.delete(id)
    this.#known = known
    return known
  }
}

function isId(id: Json | undefined): boolean {
  return typeof id === 'string' && id !== '' && !id.startsWith('#')
}
