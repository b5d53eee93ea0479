/** Text that is HTML already. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | Html | readonly Html[]

/** A template of HTML: every text that is put into it is escaped, in content and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, i) => text + asText(values[i - 1] ?? '') + part))
}

function asText(value: Value): string {
  if (value instanceof Html) return value.text
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
  return value.map(({ text }) => text).join('')
}
