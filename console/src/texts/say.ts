import type { AREAS } from './areas.ts'
import { LOADED } from './loaded-texts.ts'
import type { SHELL } from './shell.ts'
import type { START } from './start.ts'

export type TextName = keyof typeof SHELL | keyof typeof START | keyof typeof AREAS

/** The text of this name, with the values of its `{placeholders}`. */
export function say(name: TextName, values: Readonly<Record<string, string | number>> = {}): string {
  const text = LOADED[name] ?? name
  return text.replace(/\{(\w+)\}/g, (whole, word: string) => (word in values ? String(values[word]) : whole))
}
