/** Text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | readonly Html[]

/** A template of HTML: every text that is put into it is escaped, in content and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, i) => text + asText(values[i - 1] ?? '') + part))
}

/** A piece of a page, or nothing. */
export function when(condition: boolean, piece: () => Html): Html {
  return condition ? piece() : new Html('')
}

function asText(value: Value): string {
  if (value instanceof Html) return value.text
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
  return value.map(({ text }) => text).join('')
}
