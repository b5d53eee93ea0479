import type { JsonObject } from '../../json/json.ts'
import { refuseMember, textMember } from './portal-fields.ts'

/** Style sheets and script of a portal before anybody writes one. */
export const NO_LOOK: JsonObject = { page_css: '', email_css: '', page_js: '' }

const LONGEST = 524_288

/** Reads the style sheets from the wire; what is not sent is as in `before`. @throws Fault `portal_invalid` (400) */
export function readCss(sent: JsonObject, before: JsonObject): JsonObject {
  return { ...before, ...part(sent, before, 'page_css', 'style'), ...part(sent, before, 'email_css', 'style') }
}

/** Reads the script from the wire. @throws Fault `portal_invalid` (400) */
export function readJs(sent: JsonObject, before: JsonObject): JsonObject {
  return { ...before, ...part(sent, before, 'page_js', 'script') }
}

/** The text goes into an element of a page, so it must not hold the element's end. */
function part(sent: JsonObject, before: JsonObject, name: string, element: string): JsonObject {
  if (!Object.hasOwn(sent, name)) return { [name]: before[name] ?? '' }
  const text = textMember(sent, name, { longest: LONGEST, lines: true })
  if (new RegExp(`</${element}`, 'i').test(text)) refuseMember(name, `must not hold </${element}`)
  return { [name]: text }
}
