import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AREAS } from '../../../console/src/texts/areas.ts'
import { SHELL } from '../../../console/src/texts/shell.ts'
import { START } from '../../../console/src/texts/start.ts'
import type { Control } from './recorder.ts'

/** The placeholder for a name that is no text of the console, such as that of an API in a list. */
const DATA = '…'

/**
 * One part draws these on all pages, and they do the same everywhere: used on one page, they count as used on all.
 * Names are those of the console's texts.
 */
const SAME_EVERYWHERE: ReadonlySet<string> = new Set([
  SHELL['part.cancel'],
  SHELL['part.close'],
  SHELL['part.copy'],
  SHELL['part.copyOf'],
  SHELL['part.done'],
  SHELL['part.retry'],
  SHELL['part.next'],
  SHELL['part.previous'],
  SHELL['part.stay'],
  SHELL['part.leave'],
])

interface Template {
  readonly text: string
  readonly pattern: RegExp
  readonly letters: number
}

/** `{loaded} of {total}` would be found in the name of anything. */
const FEWEST_LETTERS = 4
const TEXTS: readonly string[] = Object.values({ ...SHELL, ...START, ...AREAS })
const exact = new Set(TEXTS)
const templates: readonly Template[] = TEXTS.filter((text) => text.includes('{'))
  .map(templateOf)
  .filter(({ letters }) => letters >= FEWEST_LETTERS)
  .sort((a, b) => b.letters - a.letters)

function templateOf(text: string): Template {
  const parts = text.split(/\{\w+\}/)
  const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')).join('.*')
  return { text, pattern: new RegExp(`^${pattern}$`, 's'), letters: parts.join('').replace(/\W/g, '').length }
}

/** The text of the console that a name was made from, with its `{placeholders}`; `…` for a name from data. */
export function textOf(name: string): string {
  if (name === '' || exact.has(name)) return name
  return templates.find(({ pattern }) => pattern.test(name))?.text ?? DATA
}

/** Pages whose tabs hold one and the same part. */
const ONE_PANEL: ReadonlySet<string> = new Set(['/analytics'])
/** Words that the recorder uses instead of names. */
const OWN_WORDS: ReadonlySet<string> = new Set(['bar', 'menu', 'popover'])

/** One dialog that opens over any page. */
const OVER_ALL: ReadonlySet<string> = new Set([SHELL['part.sessionEnded']])

/** The identity of a control, for any object: `/keys/$id · button “Delete”`. */
export function identityOf({ page, place, role, name }: Control): string {
  const text = textOf(name)
  if (SAME_EVERYWHERE.has(text)) return `everywhere · ${role} “${text}”`
  if (role === 'button' && /^\d+$/.test(name)) return 'everywhere · number of a page'
  if (OVER_ALL.has(place)) return `everywhere · “${place}” · ${role} “${text}”`
  // The bar lists what the menu lists, and all results: one choice of many.
  if (place === 'bar' && role === 'button') return 'command bar · what is found or begun'
  const where = ONE_PANEL.has(page) ? '' : whereOf(place)
  return `${page}${where} · ${role} “${text}”`
}

function whereOf(place: string): string {
  if (place === '') return ''
  if (OWN_WORDS.has(place)) return ` · ${place}`
  return place.startsWith('menu ') ? ` · menu “${textOf(place.slice(5))}”` : ` · “${textOf(place)}”`
}

/** The controls of a page that were never used, sorted by their page. */
export function unreached(controls: readonly Control[]): readonly string[] {
  const of = (wanted: Control['fate']) =>
    new Set(controls.filter(({ fate }) => fate === wanted).map((control) => identityOf(control)))
  const used = of('used')
  return [...of('seen')].filter((identity) => !used.has(identity)).sort()
}

/** Writes notes of a page that is none of the console's. */
const MADE_UP = 'recorder'

/** The notes of the files of existing journeys from when each was last run. */
export function readControls(folder: string): readonly Control[] {
  const tests = readdirSync(join(import.meta.dirname, '../../console'), { encoding: 'utf8', recursive: true })
  const names = new Set(tests.map((name) => basename(name, '.test.ts')))
  return readdirSync(folder)
    .map((name) => name.replace(/\.json$/, ''))
    .filter((name) => name !== MADE_UP && names.has(name))
    .flatMap((name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Control[])
}
