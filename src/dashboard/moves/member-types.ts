import type { FaultCode } from '../../errors/catalog.ts'
import { fault } from '../../errors/fault.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'

type MemberType = 'text' | 'texts' | 'object' | 'objects'

const WORDS: Readonly<Record<MemberType, string>> = {
  text: 'a text',
  texts: 'a list of texts',
  object: 'an object',
  objects: 'a list of objects',
}

const isText = (value: Json) => typeof value === 'string'
const IS: Readonly<Record<MemberType, (value: Json) => boolean>> = {
  text: isText,
  texts: (value) => Array.isArray(value) && value.every(isText),
  object: isObject,
  objects: (value) => Array.isArray(value) && value.every(isObject),
}

/** Refuses members of another type than these; absent ones and null pass. @throws Fault of the code, naming the member */
export function checkMemberTypes(
  body: JsonObject,
  types: Readonly<Record<string, MemberType>>,
  code: FaultCode,
  at = '',
): void {
  for (const [name, type] of Object.entries(types)) {
    const value = body[name] ?? null
    if (value !== null && !IS[type](value)) throw fault(code, `${at}${name}: must be ${WORDS[type]}`)
  }
}
