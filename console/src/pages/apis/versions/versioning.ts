import { type ApiView, type Definition, type Json, readApi, saveDefinition } from '../../../api/apis/apis.ts'
import type { FormValues } from '../../../parts/forms/record-form.tsx'
import { at, EXTENSION, isObject, objectAt, textAt, withAt } from '../editor/tree.ts'

const place = (isOas: boolean) => (isOas ? [EXTENSION, 'info', 'versioning'] : ['definition'])

/** Changes what the stored definition of a base API says about its versions. Reads it afresh, so that nobody's change is lost. */
export function useChangeVersions(api: ApiView): (change: (definition: Definition) => Definition) => Promise<unknown> {
  return async (change) => {
    const { definition } = await readApi(api.id)
    return saveDefinition(api, change(definition))
  }
}

/** Another version for callers who ask for none; `self` is the base. */
export function withDefault(definition: Definition, isOas: boolean, name: string): Definition {
  return withAt(definition, [...place(isOas), 'default'], name)
}

/** Versions by name. */
function namesOf(definition: Definition, isOas: boolean): (readonly [string, string])[] {
  const versions = at(definition, [...place(isOas), 'versions'])
  if (Array.isArray(versions))
    return versions.filter(isObject).map((entry) => [textAt(entry, ['name']), textAt(entry, ['id'])])
  return Object.entries(isObject(versions) ? versions : {}).map(([name, id]) => [name, String(id)])
}

function withNames(definition: Definition, isOas: boolean, names: readonly (readonly [string, string])[]): Definition {
  const versions: Json = isOas ? names.map(([name, id]) => ({ name, id })) : Object.fromEntries(names)
  return withAt(definition, [...place(isOas), 'versions'], versions)
}

/** The definition without a version, which stays a separate API. */
export function detached(definition: Definition, isOas: boolean, id: string): Definition {
  const names = namesOf(definition, isOas)
  const gone = names.filter((each) => each[1] === id).map(([name]) => name)
  const rest = withNames(
    definition,
    isOas,
    names.filter((each) => each[1] !== id),
  )
  return gone.includes(textAt(rest, [...place(isOas), 'default'])) ? withDefault(rest, isOas, 'self') : rest
}

/** The definition in which a version, or the base itself (`id` ''), goes by another name. */
export function renamed(definition: Definition, isOas: boolean, id: string, name: string): Definition {
  const chosen = textAt(definition, [...place(isOas), 'default'])
  const names = namesOf(definition, isOas)
  const before = id === '' ? textAt(definition, [...place(isOas), 'name']) : names.find((each) => each[1] === id)?.[0]
  const next =
    id === ''
      ? withAt(definition, [...place(isOas), 'name'], name)
      : withNames(
          definition,
          isOas,
          names.map(([old, each]) => [each === id ? name : old, each]),
        )
  return before !== undefined && chosen === before ? withDefault(next, isOas, name) : next
}

/** A copy of a definition for a new API: without ids, versions and owners, at a new path. */
export function copyFor(api: ApiView, name: string, listenPath: string, upstream: string): Definition {
  const { isOas } = api
  const info = isOas ? [EXTENSION, 'info'] : []
  let copy = api.definition
  for (const id of isOas ? ['id', 'dbId', 'orgId', 'versioning'] : ['id', 'api_id', 'org_id', 'slug', 'definition'])
    copy = withAt(copy, [...info, id], undefined)
  copy = withAt(copy, [...info, 'name'], name)
  copy = withAt(copy, isOas ? [EXTENSION, 'server', 'listenPath', 'value'] : ['proxy', 'listen_path'], listenPath)
  return withAt(copy, isOas ? [EXTENSION, 'upstream', 'url'] : ['proxy', 'target_url'], upstream)
}

/** Where callers name the version that they want: member of the form, of an OpenAPI document, of a classic definition. */
const CALLING = [
  ['location', 'location', 'location'],
  ['key', 'key', 'key'],
  ['strip', 'stripVersioningData', 'strip_versioning_data'],
  ['fallback', 'fallbackToDefault', 'fallback_to_default'],
] as const

/** How callers name a version, as the form shows it. */
export function callingOf({ definition, isOas }: ApiView): FormValues {
  const said = objectAt(definition, place(isOas))
  return {
    location: textAt(said, ['location']) || 'header',
    key: textAt(said, ['key']),
    strip: said[isOas ? CALLING[2][1] : CALLING[2][2]] === true,
    fallback: said[isOas ? CALLING[3][1] : CALLING[3][2]] === true,
  }
}

/** The definition in which callers name a version as the form says. */
export function withCalling(definition: Definition, isOas: boolean, values: FormValues): Definition {
  return CALLING.reduce(
    (next, [field, oas, classic]) => withAt(next, [...place(isOas), isOas ? oas : classic], values[field] as Json),
    definition,
  )
}
