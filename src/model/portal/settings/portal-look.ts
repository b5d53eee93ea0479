import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { flagMember, objectMember, refuseMember, textMember } from './portal-fields.ts'

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

const MOST_MENUS = 50
const MOST_ITEMS = 200
const ELSEWHERE = 'https://portal.invalid/'

/** The menus before anybody makes one. */
export const NO_MENUS: JsonObject = { is_active: false, menus: {} }

/** Reads the menus of the portal from the wire; null is an empty menu. @throws Fault `portal_invalid` (400) naming the menu */
export function readMenus(sent: JsonObject): JsonObject {
  const { id: _id, _id: _storage, org_id: _org, ...rest } = sent
  const menus = Object.entries(objectMember(rest, 'menus'))
  if (menus.length > MOST_MENUS) refuseMember('menus', `at most ${MOST_MENUS}`)
  const read = menus.map(([name, items]) => {
    textMember({ menus: name }, 'menus', { longest: 128 })
    return [name, readItems(name, items)] as const
  })
  return { ...rest, is_active: flagMember(rest, 'is_active'), menus: Object.fromEntries(read) }
}

function readItems(menu: string, items: Json): JsonObject[] {
  const list = items ?? []
  if (!Array.isArray(list) || list.length > MOST_ITEMS || !list.every(isObject))
    return refuseMember(`menus.${menu}`, `must be a list of at most ${MOST_ITEMS} objects`)
  return list.map((item) => ({ ...item, title: textMember(item, 'title'), url: readUrl(menu, item) }))
}

/** A place of the portal, a page of the web or a mail address: nothing that runs. */
function readUrl(menu: string, item: JsonObject): string {
  const text = textMember(item, 'url', { longest: 2048 })
  const url = URL.parse(text, ELSEWHERE)
  if (url !== null && /^(?:https?|mailto):$/.test(url.protocol)) return text
  return refuseMember(`menus.${menu}.url`, 'must be a path, or an address of http, https or mailto')
}
