import { isObject, type Json } from '../../model/json/json.ts'
import { lostNumber } from '../../model/json/json-body.ts'
import { SEALED_PREFIX } from '../../model/secrets/recipient-seal.ts'
import type { Path } from './paths.ts'

// Placeholders in the texts of files. There are two forms: `${env:NAME}` and its siblings within a text, and a
// whole text `${kept}` or `$sealed:...`. A text of an object that happens to look like one gets its dollar signs doubled.

/** The placeholder for a secret that was not exported. */
export const SECRET_PLACEHOLDER = `\${kept}`
/** The same in a document that was read: no text of anybody's. */
export const SECRET_SENTINEL = '\u0000kept'

/** True for the placeholder of a secret that was not exported, in a document that was read. */
export function isSecretSentinel(value: Json | undefined): boolean {
  return value === SECRET_SENTINEL
}

const BEFORE_MARK = /\$(?=\$*\{(?:env:|kept\}))/g
// Dollar signs before a brace are those of the next mark.
const MARK = /(\$+)(\{(?:env:(?:[^{}$]|\$+(?![${]))*\}?|kept\}))/g
const VARIABLE = /^\{env:([A-Za-z_][A-Za-z0-9_]*)(?:\|(number|boolean|json))?(?::-([^{}]*))?\}$/
const SEALED_LIKE = /^\$+sealed:/

/** A text as it is written in a file. */
function escapeMarks(text: string): string {
  if (!text.includes('$')) return text
  const doubled = text.replace(BEFORE_MARK, '$$$$')
  return SEALED_LIKE.test(doubled) ? `$${doubled}` : doubled
}

/** The same for every text of a document. */
export function escapeAllPlaceholders(value: Json): Json {
  return mapTexts(value, escapeMarks)
}

/** The values of a document's placeholders. */
export interface PlaceholderResolver {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Opens a sealed text; a text that cannot be opened is reported as an error with the reason. */
  readonly open: (sealed: string, path: Path) => { readonly text: string } | { readonly why: string } | undefined
  readonly flaw: (path: Path, name: 'env_missing' | 'mark_malformed' | 'sealed_unreadable', why: string) => void
}

/** A document of a file with its placeholders replaced by their values; a kept secret becomes `SECRET_SENTINEL`. */
export function resolvePlaceholders(value: Json, reader: PlaceholderResolver, path: Path = []): Json {
  if (typeof value === 'string') return readText(value, reader, path)
  if (Array.isArray(value)) return value.map((item, index) => resolvePlaceholders(item, reader, [...path, index]))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, resolvePlaceholders(item, reader, [...path, name])]),
  )
}

function readText(written: string, reader: PlaceholderResolver, path: Path): Json {
  if (!written.includes('$')) return written
  if (written === SECRET_PLACEHOLDER) return SECRET_SENTINEL
  if (written.startsWith(SEALED_PREFIX)) {
    const opened = reader.open(written, path)
    if (opened === undefined) return SECRET_SENTINEL
    if ('text' in opened) return opened.text
    reader.flaw(path, 'sealed_unreadable', opened.why)
    return SECRET_SENTINEL
  }
  // It may hold marks further on, like any other text.
  const text = SEALED_LIKE.test(written) ? written.slice(1) : written
  const whole = /^\$\{env:[^{}]*\}$/.exec(text)
  if (whole !== null) return variable(text.slice(1), reader, path, true)
  return text.replace(MARK, (_all, dollars: string, mark: string) => {
    const kept = '$'.repeat(Math.floor(dollars.length / 2))
    if (dollars.length % 2 === 0) return kept + mark
    if (mark === '{kept}') {
      reader.flaw(path, 'mark_malformed', 'a kept secret is the whole text, or none of it')
      return kept + mark
    }
    return kept + String(variable(mark, reader, path, false))
  })
}

function variable(mark: string, { env, flaw }: PlaceholderResolver, path: Path, whole: boolean): Json {
  const [, name = '', type, fallback] = VARIABLE.exec(mark) ?? []
  if (name === '' || (type !== undefined && !whole)) {
    flaw(path, 'mark_malformed', `$${mark} is not $\{env:NAME}, $\{env:NAME:-default} or, alone, $\{env:NAME|number}`)
    return mark
  }
  const text = env[name] ?? fallback
  if (text === undefined) {
    flaw(path, 'env_missing', `the environment has no ${name}`)
    return mark
  }
  if (type === undefined) return text
  try {
    const value = JSON.parse(text) as Json
    const lost = lostNumber(text, value)
    if (lost !== undefined) {
      flaw(path, 'env_missing', `${name} in the environment: ${lost}`)
      return text
    }
    if (type === 'json' || typeof value === type) return value
  } catch {
    // No JSON at all is as wrong as another type.
  }
  flaw(path, 'env_missing', `${name} in the environment is no ${type}`)
  return text
}

/** True when a text of a file takes something from the environment. */
export function takesFromEnvironment(text: string): boolean {
  return [...text.matchAll(MARK)].some(([, dollars = '', mark = '']) => dollars.length % 2 === 1 && mark !== '{kept}')
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]))
}
