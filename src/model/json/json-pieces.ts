import { isObject, type Json, type JsonObject } from './json.ts'

/** Characters of a piece, about: some milliseconds of work. */
const PIECE_CHARACTERS = 262_144
/** Of a member, an item or a value, besides those of texts. */
const LEAST_CHARACTERS = 8

/** True for a value whose JSON text is longer than about one piece. Looks at no more of it than that takes. */
export function isLargeJson(value: Json | undefined): boolean {
  return roomBehind(value, PIECE_CHARACTERS) < 0
}

/** The JSON text of a value, the same as `JSON.stringify` makes of it, in pieces: no step takes long, however large the value is. */
export function* jsonPieces(value: Json): Generator<string> {
  yield* new PieceWriter().write(value)
}

class PieceWriter {
  #text = ''

  #take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  *write(value: Json): Generator<string> {
    yield* this.#add(value)
    if (this.#text !== '') yield this.#take()
  }

  *#add(value: Json): Generator<string> {
    if (!isLargeJson(value) || !isContainer(value)) this.#text += JSON.stringify(value)
    else if (Array.isArray(value)) yield* this.#items(value)
    else yield* this.#members(value)
    if (this.#text.length > PIECE_CHARACTERS) yield this.#take()
  }

  *#items(list: readonly (Json | undefined)[]): Generator<string> {
    this.#text += '['
    for (const [index, item] of list.entries()) {
      if (index > 0) this.#text += ','
      yield* this.#add(item ?? null)
    }
    this.#text += ']'
  }

  *#members(object: JsonObject): Generator<string> {
    let before = '{'
    for (const name of Object.keys(object)) {
      const member = object[name]
      if (member === undefined) continue
      this.#text += `${before}${JSON.stringify(name)}:`
      before = ','
      yield* this.#add(member)
    }
    this.#text += before === '{' ? '{}' : '}'
  }
}

const isContainer = (value: Json): value is JsonObject | Json[] => Array.isArray(value) || isObject(value)

/** Room that is left when the text of a value has taken its part; below 0 where it does not fit, then nothing more is looked at. */
function roomBehind(value: Json | undefined, room: number): number {
  if (typeof value === 'string') return room - value.length - LEAST_CHARACTERS
  if (typeof value !== 'object' || value === null) return room - LEAST_CHARACTERS
  let left = room - LEAST_CHARACTERS
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = roomBehind(value[index], left)
    return left
  }
  for (const name in value) {
    if (left < 0) return left
    left = roomBehind((value as JsonObject)[name], left - name.length)
  }
  return left
}
