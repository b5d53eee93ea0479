import type { Definition } from '../../../api/apis/apis.ts'
import type { Choice, Heading, PlainField } from '../../../parts/forms/fields.ts'
import type { FormValue, FormValues } from '../../../parts/forms/form-values.ts'
import { say, type TextName } from '../../../texts/say.ts'
import { at, withAt } from '../editor/tree.ts'
import { type Codec, LIST, NUMBER, SWITCH, TEXT } from './codec.ts'

/** A setting of a form: its path in each format, and what else changes with it. */
export interface Setting {
  readonly name: string
  readonly kind: 'text' | 'url' | 'number' | 'switch' | 'list' | 'choice' | 'area' | 'json'
  readonly oas: string
  /** Missing where a classic definition has no such setting. */
  readonly classic?: string
  readonly oasAs?: Codec
  readonly classicAs?: Codec
  /** The name of a switch, or what else must hold for the field to be shown. */
  readonly when?: string | ((all: FormValues) => boolean)
  readonly required?: boolean
  readonly unit?: string
  readonly min?: number
  readonly max?: number
  /** The default, as text. */
  readonly placeholder?: string
  /** Words of a choice; what each is called is a text by the name of the setting and the word, unless it is said here. */
  readonly words?: readonly string[]
  readonly labelOf?: (word: string) => string
  /** Entries of a list hold commas. */
  readonly isWhole?: boolean
  /** A classic switch that is on as long as the list holds something. */
  readonly classicSwitch?: string
}

/** The heading above some settings, by the name of its texts. */
export interface SettingHeading {
  readonly above: string
}

/** A list of entries of one kind, which the form draws. */
export interface SettingPart {
  readonly part: 'checks' | 'shown' | 'pins' | 'handlers' | 'modules' | 'purge'
  readonly when?: Setting['when']
}

export type SettingEntry = Setting | SettingHeading | SettingPart

const CODECS = {
  ...{ text: TEXT, url: TEXT, area: TEXT, choice: TEXT, json: TEXT },
  ...{ number: NUMBER, switch: SWITCH, list: LIST },
} as const

/** The path of a setting below `root` of a definition, and how it is written there. */
function placeOf(
  setting: Setting,
  isOas: boolean,
  root: readonly string[],
): { readonly path: readonly string[]; readonly codec: Codec } {
  const own = isOas ? setting.oasAs : setting.classicAs
  const path = (isOas ? setting.oas : setting.classic!).split('.')
  return { path: [...root, ...path], codec: own ?? CODECS[setting.kind] }
}

/** Of what a form is made of, the settings that a format has. */
export function settingsIn(entries: readonly SettingEntry[], isOas: boolean): readonly Setting[] {
  return entries.filter((entry): entry is Setting => 'kind' in entry && (isOas || entry.classic !== undefined))
}

/** The form values of settings below `root`. */
export function valuesIn(
  tree: Definition,
  settings: readonly Setting[],
  isOas: boolean,
  root: readonly string[],
): FormValues {
  const read = (setting: Setting) => {
    const { path, codec } = placeOf(setting, isOas, root)
    return [setting.name, codec.read(at(tree, path))] as const
  }
  return Object.fromEntries(settings.map(read))
}

/** The definition with what differs in the form; nothing else in it is touched. */
export function withSettings(
  tree: Definition,
  settings: readonly Setting[],
  isOas: boolean,
  { root, values }: { readonly root: readonly string[]; readonly values: FormValues },
): Definition {
  const before = valuesIn(tree, settings, isOas, root)
  let changed = tree
  for (const setting of settings) {
    const value = values[setting.name]
    if (value === undefined || isSameValue(value, before[setting.name]!)) continue
    const { path, codec } = placeOf(setting, isOas, root)
    changed = withAt(changed, path, codec.write(value, at(changed, path)))
    if (!isOas && setting.classicSwitch !== undefined && Array.isArray(value))
      changed = withAt(changed, [setting.classicSwitch], value.length > 0)
  }
  return changed
}

function isSameValue(a: FormValue, b: FormValue): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((entry, index) => entry === b[index])
}

/** Each setting with its path. */
export function placesIn(
  settings: readonly Setting[],
  isOas: boolean,
  root: readonly string[],
): (readonly [field: string, place: readonly string[]])[] {
  return settings.map((setting) => [setting.name, placeOf(setting, isOas, root).path] as const)
}

/** Whether a field or part is shown, for what the others say. */
export function isShown(when: Setting['when'], all: FormValues): boolean {
  if (when === undefined) return true
  return typeof when === 'string' ? all[when] === true : when(all)
}

/** The field of a setting. */
export function fieldOf(setting: Setting): PlainField {
  const { name, kind, when, unit, min, max, placeholder, isWhole } = setting
  const common = {
    ...{ name, label: say(`apiSet.${name}` as TextName), hint: say(`apiSet.${name}Hint` as TextName) },
    ...(setting.required === true && { required: true }),
    ...(when !== undefined && { when: (all: FormValues) => isShown(when, all) }),
    ...(placeholder !== undefined && { placeholder }),
  }
  if (kind === 'choice') return { ...common, kind, choices: choicesOf(setting) }
  if (kind === 'list') return { ...common, kind, isWhole: isWhole === true }
  if (kind === 'area') return { ...common, kind, isCode: true, rows: 3 }
  if (kind !== 'number') return { ...common, kind }
  return { ...common, kind, min: min ?? 0, ...(max !== undefined && { max }), ...(unit !== undefined && { unit }) }
}

function choicesOf({ name, words = [], labelOf }: Setting): readonly Choice[] {
  const label = labelOf ?? ((word: string) => say(`apiSet.${name}.${word}` as TextName))
  return words.map((value) => ({ value, label: label(value) }))
}

/** The heading above the fields that follow. */
export function headingOf({ above }: SettingHeading): Heading {
  return { heading: say(`apiSet.${above}` as TextName), hint: say(`apiSet.${above}Hint` as TextName), isPart: true }
}
