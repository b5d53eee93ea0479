import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'

/** Larger ones are refused by every save. */
const MOST_BYTES = 1 << 20
const OF_OAS = ['transformRequestBody', 'transformResponseBody']

/** A definition with the templates that it has in files written into it, and what was done, in words. */
export interface Inlined {
  readonly body: JsonObject
  readonly changes: readonly string[]
  /** Why a template cannot be read. */
  readonly refused: readonly string[]
}

/**
 * Writes body templates into a definition of either format: those that name a file, which is looked for below `folder`, the folder that the
 * gateway before ran in. Without one they stay as they are, and the save refuses them by their place.
 */
export function inlineTemplates(body: JsonObject, folder: string | undefined): Inlined {
  if (folder === undefined) return { body, changes: [], refused: [] }
  const changes: string[] = []
  const refused: string[] = []
  const read = (path: string): string | undefined => {
    const found = templateIn(folder, path)
    if ('why' in found) refused.push(`the template ${path} ${found.why}`)
    else changes.push(`the template ${path} is now within it`)
    return 'why' in found ? undefined : found.base64
  }
  const walk = (value: Json, name: string): Json => {
    if (Array.isArray(value)) return value.map((each) => walk(each, name))
    if (!isObject(value)) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, key)]))
    if (name === 'template_data' && inner.template_mode === 'file' && isPath(inner.template_source)) {
      const base64 = read(inner.template_source)
      return base64 === undefined ? inner : { ...inner, template_mode: 'blob', template_source: base64 }
    }
    if (OF_OAS.includes(name) && isPath(inner.path) && (inner.body ?? '') === '') {
      const { path, ...rest } = inner
      const base64 = read(path as string)
      return base64 === undefined ? inner : { ...rest, body: base64 }
    }
    return inner
  }
  return { body: walk(body, '') as JsonObject, changes, refused }
}

const isPath = (value: Json | undefined): value is string => typeof value === 'string' && value !== ''

/** A file below the folder, whether its path there was absolute or not. */
function templateIn(folder: string, path: string): { readonly base64: string } | { readonly why: string } {
  try {
    const file = realpathSync(join(folder, path))
    if (!file.startsWith(`${realpathSync(folder)}${sep}`)) return { why: 'is not in the folder of --templates' }
    const { size } = statSync(file)
    if (size === 0 || size > MOST_BYTES) return { why: size === 0 ? 'is empty' : 'is larger than 1 MB' }
    return { base64: readFileSync(file).toString('base64') }
  } catch (error) {
    return { why: `cannot be read (${(error as NodeJS.ErrnoException).code}) in the folder of --templates` }
  }
}
