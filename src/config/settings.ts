import { ConfigSchema } from './schema.ts'

export type SettingValue =
  | string
  | number
  | boolean
  | readonly string[]
  | Readonly<Record<string, string>>
  | readonly Readonly<Record<string, unknown>>[]
export type SettingKind = 'text' | 'whole' | 'flag' | 'list' | 'map' | 'objects'

/** One leaf of the schema with the names that people use for it. */
export interface Setting {
  /** `gateway.listen_port` */
  readonly path: string
  readonly segments: readonly string[]
  /** `SVC_GW_LISTENPORT` */
  readonly env: string
  readonly kind: SettingKind
  readonly secret: boolean
  /** True = `auto` is a value too. */
  readonly auto: boolean
  /** Of a whole number. */
  readonly most: number
  readonly default: SettingValue
  readonly description: string
  /** The accepted values, in words: `a whole number from 0 to 65535`. */
  readonly allowed: string
}

/** The part of JSON Schema that the settings use. */
interface Leaf {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Leaf>>
  readonly items?: Leaf
  readonly enum?: readonly string[]
  readonly default?: SettingValue
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly secret?: boolean
  readonly allowed?: string
  readonly auto?: boolean
}

const ROOT_NAMES: Readonly<Record<string, string>> = { gateway: 'GW', dashboard: 'DB' }

/** The environment name of a setting: `gateway.listen_port` is `SVC_GW_LISTENPORT`. */
function envName(segments: readonly string[]): string {
  const [root = '', ...rest] = segments
  const first = ROOT_NAMES[root] ?? root
  return ['SVC', first, ...rest].map((segment) => segment.replaceAll('_', '').toUpperCase()).join('_')
}

/** The value of a setting that is known when the settings are read. */
export const AUTO = 'auto'

/** Every setting in the order of the schema. */
export const SETTINGS: readonly Setting[] = leaves(ConfigSchema as Leaf, [])

function leaves(node: Leaf, segments: readonly string[]): Setting[] {
  if (node.properties === undefined) return [toSetting(node, segments)]
  return Object.entries(node.properties).flatMap(([name, child]) => leaves(child, [...segments, name]))
}

function toSetting(leaf: Leaf, segments: readonly string[]): Setting {
  return {
    path: segments.join('.'),
    segments,
    env: envName(segments),
    kind: kindOf(leaf),
    secret: leaf.secret === true,
    auto: leaf.auto === true,
    most: leaf.maximum ?? 0,
    default: leaf.default ?? '',
    description: leaf.description ?? '',
    allowed: allowed(leaf),
  }
}

function kindOf(leaf: Leaf): SettingKind {
  if (leaf.type === 'integer') return 'whole'
  if (leaf.type === 'boolean') return 'flag'
  if (leaf.type === 'array') return leaf.items?.type === 'object' ? 'objects' : 'list'
  return leaf.type === 'object' ? 'map' : 'text'
}

function allowed(leaf: Leaf): string {
  if (leaf.allowed !== undefined) return leaf.allowed
  if (leaf.enum !== undefined) return `one of ${leaf.enum.join(', ')}`
  if (leaf.type === 'boolean') return 'true or false'
  if (leaf.type === 'array') return `a list of ${leaf.items?.allowed ?? 'texts'}`
  if (leaf.type === 'object') return 'a JSON object of texts'
  if (leaf.type === 'integer') return `a whole number from ${leaf.minimum} to ${leaf.maximum}`
  return 'a text'
}
