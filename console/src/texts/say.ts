import type { AREAS } from './areas.ts'
import { SHELL } from './shell.ts'
import { START } from './start.ts'

export type TextName = keyof typeof SHELL | keyof typeof START | keyof typeof AREAS

/** Every text of the console by its name; a translation is another record of the same names. */
const texts: Partial<Record<TextName, string>> = { ...SHELL, ...START }
let loading: Promise<void> | undefined

/** Brings the texts of the pages behind the sign-in (`areas.ts`): their modules may say them from then on. */
export function loadTexts(): Promise<void> {
  loading ??= import('./areas.ts').then(
    ({ AREAS }) => void Object.assign(texts, AREAS),
    (error: unknown) => {
      // Asked for again with the next page.
      loading = undefined
      throw error
    },
  )
  return loading
}

/** The text of this name, with the values of its `{placeholders}`. */
export function say(name: TextName, values: Readonly<Record<string, string | number>> = {}): string {
  const text = texts[name] ?? name
  return text.replace(/\{(\w+)\}/g, (whole, word: string) => (word in values ? String(values[word]) : whole))
}
