import type { Setting, SettingValue } from './settings.ts'

const WHOLE = /^-?\d{1,16}$/

/**
 * Reads the text of an environment variable as the kind of its setting.
 * Lists: JSON, or values separated by commas. Maps: a JSON object of texts. Lists of objects: JSON; what is in the objects is the
 * schema's to judge. Answers undefined when the text is not of that kind.
 */
export function parseText(setting: Setting, text: string): SettingValue | undefined {
  if (setting.kind === 'text') return text
  const trimmed = text.trim()
  if (setting.kind === 'flag') return parseFlag(trimmed)
  if (setting.kind === 'whole') return WHOLE.test(trimmed) ? Number(trimmed) : undefined
  if (setting.kind === 'objects') return parseObjects(trimmed)
  return setting.kind === 'map' ? parseMap(trimmed) : parseList(trimmed)
}

function parseObjects(text: string): readonly Readonly<Record<string, unknown>>[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function parseFlag(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  if (lower === 'true' || lower === '1') return true
  return lower === 'false' || lower === '0' ? false : undefined
}

function parseMap(text: string): Readonly<Record<string, string>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const entries = Object.entries(value)
    const good = entries.every(([name, item]) => typeof item === 'string' && name !== '__proto__')
    return good ? (value as Record<string, string>) : undefined
  } catch {
    return undefined
  }
}

function parseList(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) {
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
  } catch {
    return undefined
  }
}
