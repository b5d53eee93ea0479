import type { Json } from '../json/json.ts'

/** Text that is written as it is where its kind is expected: JSON outside of quotes, markup in XML. Elsewhere it is a text. */
export class ReadyText {
  readonly text: string
  readonly kind: 'json' | 'markup'

  constructor(text: string, kind: ReadyText['kind'] = 'json') {
    this.text = text
    this.kind = kind
  }
}

export type TemplateValue = Json | ReadyText

/** The costs and arguments of functions. */
export interface Meter {
  /** Notes work in steps; one is about what a look-up costs. @throws where the bound is reached */
  spend(steps: number): void
  /** Names of the members, sorted; counted once for each object. */
  keysOf(object: { readonly [name: string]: Json }): readonly string[]
}

/** A function's error about its values, in words that follow its name. */
export class ValueFlaw extends Error {}

/** Most characters per step. */
export const CHARACTERS_PER_STEP = 64

/** The value as text between quotes. */
export function templateText(value: TemplateValue, meter: Meter): string {
  spendOnParts(value, meter)
  const text = plainText(value)
  meter.spend(text.length / CHARACTERS_PER_STEP)
  return text
}

function plainText(value: TemplateValue): string {
  if (value === null) return ''
  if (value instanceof ReadyText) return value.text
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The value as JSON, for places outside quotes. */
export function templateJson(value: TemplateValue, meter: Meter): string {
  spendOnParts(value, meter)
  const text =
    value instanceof ReadyText
      ? value.kind === 'json'
        ? value.text
        : JSON.stringify(value.text)
      : JSON.stringify(value)
  meter.spend(text.length / CHARACTERS_PER_STEP)
  return text
}

/** Least characters that a part of a list or an object takes, with the comma behind it. */
const CHARACTERS_OF_PART = 2

/** Notes the parts of a list or object before they are written: a list that holds another one twice, which does so too, is long. */
function spendOnParts(value: TemplateValue, meter: Meter): void {
  if (value instanceof ReadyText) return
  const open: Json[] = [value]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue
    const inner = Object.values(part) as Json[]
    meter.spend((CHARACTERS_OF_PART * inner.length) / CHARACTERS_PER_STEP)
    for (const each of inner) open.push(each)
  }
}

/** Text that is no markup in XML and HTML. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
