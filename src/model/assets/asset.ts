import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../json/json.ts'

/** The kinds of assets: templates for new APIs. */
const ASSET_KINDS = ['oas-template'] as const

/** Something that APIs are made with. Body of the kind `asset`. */
export interface Asset {
  /** Its ID for callers, within its organisation; the storage id unless one was given. */
  readonly id: string
  readonly kind: (typeof ASSET_KINDS)[number]
  readonly name: string
  readonly description: string
  /** Of a template: parts of an OpenAPI document, the extension among them under our name. */
  readonly data: JsonObject
  readonly org_id: string
  /** RFC 3339. */
  readonly last_updated: string
}

/** The members of an asset that its author sets; `id` is '' when none was given. */
export type AssetDraft = Pick<Asset, 'id' | 'kind' | 'name' | 'description' | 'data'>

const ID = /^[A-Za-z0-9_.~-]{1,256}$/
const LONGEST = 4096

/** Reads an asset from the wire. @throws Fault `asset_invalid` (400) naming the member, `asset_kind_unknown` (422) */
export function readAsset({ id, kind, name, description, data }: JsonObject): AssetDraft {
  const known = ASSET_KINDS.find((each) => each === kind)
  if (known === undefined) throw fault('asset_kind_unknown', `kind: must be one of ${ASSET_KINDS.join(', ')}`)
  if (id !== undefined && id !== '' && (typeof id !== 'string' || !ID.test(id)))
    throw fault('asset_invalid', 'id: must have at most 256 letters, digits and any of _ . ~ -')
  if (!isObject(data)) throw fault('asset_invalid', 'data: must be an object')
  const named = text('name', name)
  if (named === '') throw fault('asset_invalid', 'name: is missing')
  return {
    id: typeof id === 'string' ? id : '',
    kind: known,
    name: named,
    description: text('description', description),
    data,
  }
}

/** A document laid over a template: what it says counts, objects are laid over each other, everything else is replaced. */
export function mergedOverTemplate(template: JsonObject, document: JsonObject): JsonObject {
  const names = new Set([...Object.keys(template), ...Object.keys(document)])
  return Object.fromEntries(
    [...names].map((name): [string, Json] => {
      const below = Object.hasOwn(template, name) ? template[name] : undefined
      const above = Object.hasOwn(document, name) ? document[name] : undefined
      if (isObject(below) && isObject(above)) return [name, mergedOverTemplate(below, above)]
      return [name, (above ?? below) as Json]
    }),
  )
}

function text(name: string, value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string' || value.length > LONGEST)
    throw fault('asset_invalid', `${name}: must be a text of at most ${LONGEST} characters`)
  return value
}
