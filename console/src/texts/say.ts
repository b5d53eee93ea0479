import type { AREAS } from './areas.ts'
import { SHELL } from './shell.ts'
import { START } from './start.ts'

export type TextName = keyof typeof SHELL | keyof typeof START | keyof typeof AREAS

/**
 * Module state: every loaded text of the console by its name; a translation is another record of the same names. Those of pages
 * behind the sign-in come with the modules that name them (`texts-by-area.ts`).
 */
const texts: Partial<Record<TextName, string>> = { ...SHELL, ...START }

/** Adds the texts of an area. */
export function addTexts(area: Readonly<Record<string, string>>): void {
  Object.assign(texts, area)
}

/** The text of this name, with the values of its `{placeholders}`. */
export function say(name: TextName, values: Readonly<Record<string, string | number>> = {}): string {
  const text = texts[name] ?? name
  return text.replace(/\{(\w+)\}/g, (whole, word: string) => (word in values ? String(values[word]) : whole))
}
