import { LineCounter, parseDocument } from 'yaml'
import type { Path } from './paths.ts'

/** The line number, from 1, of an offset in a text. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Offset of the value at a path in well-formed JSON; for a path that ends early, that of the last value on it. */
export function jsonOffset(text: string, path: Path): number {
  let found = 0
  new JsonWalk(text, (at, offset) => {
    if (at.length <= path.length && at.every((step, index) => String(step) === String(path[index]))) found = offset
  }).run()
  return found
}

/** The first member that an object of well-formed JSON names twice; undefined when there is none. */
export function twiceNamed(text: string): { readonly path: Path; readonly offset: number } | undefined {
  let found: { path: Path; offset: number } | undefined
  new JsonWalk(text, undefined, (path, offset) => {
    found ??= { path: [...path], offset }
  }).run()
  return found
}

/** Line of the value at a path of a YAML text; for a path that ends early, that of the last value on it. */
export function yamlLine(text: string, path: Path): number {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: 'silent' })
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    const range = (node as { range?: readonly number[] } | undefined)?.range
    if (range !== undefined) return lines.linePos(range[0]!).line
  }
  return 1
}

type Seen = (path: readonly (string | number)[], offset: number) => void

/** Walks well-formed JSON by hand: the parser of the language tells no positions. */
class JsonWalk {
  readonly #text: string
  readonly #seen: Seen | undefined
  readonly #twice: Seen | undefined
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string, seen: Seen | undefined, twice?: Seen) {
    this.#text = text
    this.#seen = seen
    this.#twice = twice
  }

  run(): void {
    this.#space()
    this.#value(this.#at)
  }

  /** `from`: where the member begins, with its name. */
  #value(from: number): void {
    this.#seen?.(this.#path, from)
    const first = this.#text[this.#at]
    if (first === '{') this.#object()
    else if (first === '[') this.#list()
    else if (first === '"') this.#string()
    else this.#at += /^[^\s,\]}]+/.exec(this.#text.slice(this.#at, this.#at + 64))?.[0].length ?? 1
  }

  #object(): void {
    const names = new Set<string>()
    this.#inside('}', () => {
      const from = this.#at
      const name = this.#string()
      this.#path.push(name)
      if (names.has(name)) this.#twice?.(this.#path, from)
      names.add(name)
      this.#space()
      this.#at++
      this.#space()
      this.#value(from)
      this.#path.pop()
    })
  }

  #list(): void {
    let index = 0
    this.#inside(']', () => {
      this.#path.push(index++)
      this.#value(this.#at)
      this.#path.pop()
    })
  }

  #inside(end: string, item: () => void): void {
    this.#at++
    this.#space()
    while (this.#at < this.#text.length && this.#text[this.#at] !== end) {
      item()
      this.#space()
      if (this.#text[this.#at] === ',') this.#at++
      this.#space()
    }
    this.#at++
  }

  #string(): string {
    const from = this.#at
    this.#at++
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"')
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    this.#at++
    return JSON.parse(this.#text.slice(from, this.#at)) as string
  }

  #space(): void {
    while (this.#at < this.#text.length && /\s/.test(this.#text[this.#at]!)) this.#at++
  }
}
