import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { CHARACTERS_PER_STEP, escapeMarkup, type Meter, ValueFlaw } from './values.ts'

const MAX_DEPTH = 100
/** Members of an element that are none of its children: attributes begin with it, and text beside them has a name. */
const ATTRIBUTE = '-'
const TEXT = '#text'
/** The element around several, or around none. */
const ROOT = 'doc'

const NAME = /[\p{L}_:][\p{L}\p{N}_:.-]*/uy
const ATTRIBUTE_PAIR = /\s+([\p{L}_:][\p{L}\p{N}_:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/uy
const WHOLE_NAME = /^[\p{L}_][\p{L}\p{N}_.-]*(?::[\p{L}_][\p{L}\p{N}_.-]*)?$/u
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{1,8}));|&/g
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** Why a text is no XML that is taken, in words that follow "XML". */
class XmlFlaw extends Error {}

interface Element {
  readonly name: string
  readonly members: Map<string, Json>
  text: string
}

/**
 * An XML document (XML 1.0, without DTD) as values of a template, or why it is none: an element is its text, or an object of its
 * attributes (`-name`), its children and its text (`#text`); children of one name are a list. Names have no prefix. Linear.
 */
export function parseXml(text: string): { readonly value: JsonObject } | { readonly reason: string } {
  try {
    return { value: new XmlReader(text).document() }
  } catch (error) {
    if (!(error instanceof XmlFlaw)) throw error
    return { reason: `XML ${error.message}` }
  }
}

class XmlReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): JsonObject {
    const open: Element[] = [{ name: '', members: new Map(), text: '' }]
    while (this.#at < this.#text.length) {
      const start = this.#text.indexOf('<', this.#at)
      const chars = this.#text.slice(this.#at, start === -1 ? undefined : start)
      this.#put(open, unescaped(chars))
      if (start === -1) break
      this.#at = start
      this.#markup(open)
    }
    const [root] = open
    if (open.length > 1) throw new XmlFlaw(`ends within <${open.at(-1)!.name}>`)
    if (root!.members.size !== 1 || Array.isArray([...root!.members.values()][0]))
      throw new XmlFlaw('wants one root element')
    return objectOf(root!.members)
  }

  #put(open: readonly Element[], text: string): void {
    const trimmed = text.trim()
    if (trimmed === '') return
    if (open.length === 1) throw new XmlFlaw('has text outside of its root element')
    open.at(-1)!.text += trimmed
  }

  #markup(open: Element[]): void {
    if (this.#skip('<!--')) this.#behind('-->')
    else if (this.#skip('<?')) this.#behind('?>')
    else if (this.#skip('<![CDATA[')) this.#put(open, this.#behind(']]>'))
    else if (this.#skip('</')) this.#close(open)
    else if (this.#skip('<!')) throw new XmlFlaw('must not have a document type')
    else this.#open(open)
  }

  #open(open: Element[]): void {
    this.#at++
    const name = localName(this.#match(NAME)?.[0] ?? this.#fail())
    const members = new Map<string, Json>()
    for (let pair = this.#match(ATTRIBUTE_PAIR); pair !== null; pair = this.#match(ATTRIBUTE_PAIR)) {
      const key = ATTRIBUTE + localName(pair[1]!)
      if (members.has(key)) throw new XmlFlaw(`has the attribute ${key.slice(1)} twice`)
      members.set(key, unescaped(pair[2] ?? pair[3]!))
    }
    this.#match(/\s*/y)
    const element = { name, members, text: '' }
    if (this.#skip('/>')) add(open.at(-1)!, name, contentOf(element))
    else if (!this.#skip('>')) this.#fail()
    else if (open.push(element) > MAX_DEPTH + 1) throw new XmlFlaw(`is nested deeper than ${MAX_DEPTH}`)
  }

  #close(open: Element[]): void {
    const name = localName(this.#match(NAME)?.[0] ?? this.#fail())
    this.#match(/\s*/y)
    const element = open.at(-1)!
    if (open.length === 1 || element.name !== name || !this.#skip('>')) this.#fail()
    open.pop()
    add(open.at(-1)!, name, contentOf(element))
  }

  /** The text up to an end, which is passed. */
  #behind(end: string): string {
    const at = this.#text.indexOf(end, this.#at)
    if (at === -1) throw new XmlFlaw(`ends without ${end}`)
    const text = this.#text.slice(this.#at, at)
    this.#at = at + end.length
    return text
  }

  #skip(word: string): boolean {
    const isNext = this.#text.startsWith(word, this.#at)
    if (isNext) this.#at += word.length
    return isNext
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#text)
    if (found !== null) this.#at = expression.lastIndex
    return found
  }

  #fail(): never {
    throw new XmlFlaw(`is not well-formed at character ${this.#at + 1}`)
  }
}

function add({ members }: Element, name: string, value: Json): void {
  const known = members.get(name)
  if (known === undefined) members.set(name, value)
  else if (Array.isArray(known)) known.push(value)
  else members.set(name, [known, value])
}

function contentOf({ members, text }: Element): Json {
  if (members.size === 0) return text
  if (text !== '') members.set(TEXT, text)
  return objectOf(members)
}

const objectOf = (members: ReadonlyMap<string, Json>): JsonObject => {
  const object: JsonObject = Object.create(null) as JsonObject
  for (const [name, value] of members) object[name] = value
  return object
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)

function unescaped(text: string): string {
  if (/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text))
    throw new XmlFlaw('holds a character that none has')
  if (!text.includes('&')) return text
  return text.replace(ENTITY, (_, decimal?: string, hexadecimal?: string, name?: string) => {
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
    const char = name === undefined ? codeText(code) : ENTITIES.get(name)
    if (char === undefined) throw new XmlFlaw('holds an entity that is not declared')
    return char
  })
}

function codeText(code: number): string | undefined {
  const isCharacter = [9, 10, 13].includes(code) || (code >= 0x20 && code <= 0x10_ff_ff)
  const text = isCharacter ? String.fromCodePoint(code) : ''
  return text !== '' && text.isWellFormed() ? text : undefined
}

/**
 * A value as XML, the other way round: an object of one member is its root element, anything else is within `<doc>`. Members are in the
 * order of their names.
 */
export function writeXml(value: Json, meter: Meter): string {
  const out: string[] = []
  const [name, ...others] = isObject(value) ? meter.keysOf(value) : []
  const only = name !== undefined && others.length === 0 ? (value as JsonObject)[name] : undefined
  if (only === undefined || Array.isArray(only) || /^[#-]/.test(name!)) write(ROOT, value, meter, out, 0)
  else write(name!, only, meter, out, 0)
  return out.join('')
}

function write(name: string, value: Json, meter: Meter, out: string[], depth: number): void {
  meter.spend(1)
  if (depth > MAX_DEPTH) throw new ValueFlaw(`wants a value that is nested at most ${MAX_DEPTH} deep`)
  if (Array.isArray(value)) {
    for (const each of value) write(name, each, meter, out, depth + 1)
    return
  }
  if (!WHOLE_NAME.test(name)) throw new ValueFlaw(`wants names that elements can have, and not "${name.slice(0, 50)}"`)
  if (!isObject(value)) {
    const text = escapeMarkup(String(value ?? ''))
    meter.spend((name.length + text.length) / CHARACTERS_PER_STEP)
    out.push(text === '' ? `<${name}/>` : `<${name}>${text}</${name}>`)
    return
  }
  const members = meter.keysOf(value)
  const isAttribute = (member: string) => member.startsWith(ATTRIBUTE) && typeof value[member] !== 'object'
  const attributes = members.filter(isAttribute)
  out.push(`<${name}`)
  for (const member of attributes) {
    const own = member.slice(ATTRIBUTE.length)
    if (!WHOLE_NAME.test(own))
      throw new ValueFlaw(`wants names that attributes can have, and not "${own.slice(0, 50)}"`)
    const text = escapeMarkup(String(value[member]))
    meter.spend(text.length / CHARACTERS_PER_STEP)
    out.push(` ${own}="${text}"`)
  }
  if (members.length === attributes.length) {
    out.push('/>')
    return
  }
  out.push('>')
  for (const member of members) {
    if (isAttribute(member)) continue
    const own = value[member]!
    if (member === TEXT && typeof own !== 'object') {
      meter.spend(String(own).length / CHARACTERS_PER_STEP)
      out.push(escapeMarkup(String(own)))
    } else write(member, own, meter, out, depth + 1)
  }
  out.push(`</${name}>`)
}
