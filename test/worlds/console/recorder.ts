import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { BrowserContext } from 'playwright-core'

/** The fate of a control: it was on a page, or it was used. */
export type Fate = 'seen' | 'used'

/** A control of the console: on which page, in which dialog, tab or section of it, what kind, and how it is called. */
export interface Control {
  readonly fate: Fate
  /** The address without what names one thing: `/apis/$id`; `*` for the frame around every page. */
  readonly page: string
  /** Name of the dialog, tab or section that holds it; '' = the page itself. */
  readonly place: string
  readonly role: string
  readonly name: string
}

type Note = readonly [fate: Fate, page: string, place: string, role: string, name: string]

/** One file for each file of journeys, below the output of tests. */
export const CONTROLS_FOLDER = join(import.meta.dirname, '../../../test-output/console/controls')

const notes = new Map<string, Note>()

/**
 * Notes every control on the pages of a browser context, and every used one. The notes of one process are
 * written when it ends.
 */
export async function recordControls(context: BrowserContext): Promise<void> {
  if (notes.size === 0) process.once('exit', write)
  await context.exposeFunction('noteControls', (some: readonly Note[]) => {
    for (const note of some) notes.set(note.join('\u0000'), note)
  })
  await context.addInitScript(watchControls)
}

/** The notes of this process, for those who want to read them before it ends. */
export function recorded(): readonly Control[] {
  return [...notes.values()].map(([fate, page, place, role, name]) => ({ fate, page, place, role, name }))
}

function write(): void {
  if (notes.size === 0) return
  mkdirSync(CONTROLS_FOLDER, { recursive: true })
  const name = `${basename(process.argv[1] ?? 'journeys', '.test.ts')}.json`
  writeFileSync(join(CONTROLS_FOLDER, name), JSON.stringify(recorded()))
}

/** Runs in the browser, before any script of the page: it can use nothing from outside of itself. */
function watchControls(): void {
  const CONTROLS =
    'a[href],button,input,select,textarea,summary,[contenteditable=true],[role=button],[role=link],[role=tab],' +
    '[role=menuitem],[role=switch],[role=checkbox],[role=radio],[role=combobox],[role=slider],[role=textbox]'
  const FRAME = '.mantine-AppShell-header,.mantine-AppShell-navbar,.skip'
  const PLACES = '[role=dialog],[role=menu],[role=tabpanel],[role=region],section[aria-label],section[aria-labelledby]'
  const UNSEEN = '[aria-hidden=true],[inert],.mantine-Notifications-root,.mantine-PasswordInput-visibilityToggle'
  /** The explanation of a name is in the same label, and is no part of the name. */
  const HINTS = '[class*="-description"],.mantine-Accordion-label > :not(:first-child)'
  const OPEN_PAGES = ['/bootstrap', '/forgotten-password', '/reset-password']
  const PAUSE_MS = 120
  const told = new Set<string>()
  const send = Reflect.get(window, 'noteControls') as (some: readonly Note[]) => Promise<void>
  const isConsole = () => document.querySelector('link[href="/console/mark.svg"]') !== null

  const said = (node: Node): string => {
    if (node instanceof Text) return node.data
    if (!(node instanceof Element) || node.matches(`[aria-hidden=true],style,script,${HINTS}`)) return ''
    const label = node.getAttribute('aria-label') ?? (node instanceof HTMLImageElement ? node.alt : null)
    return label ?? [...node.childNodes].map(said).join(' ')
  }
  const byIds = (ids: string | null) =>
    (ids ?? '')
      .split(' ')
      .map((id) => document.getElementById(id))
      .map((element) => (element === null ? '' : said(element)))
      .join(' ')
  const nameOf = (element: Element): string => {
    const labels = 'labels' in element && element.labels instanceof NodeList ? [...element.labels] : []
    const isField = element.matches('input,select,textarea,[contenteditable=true]')
    const names = [
      byIds(element.getAttribute('aria-labelledby')),
      element.getAttribute('aria-label'),
      labels.map(said).join(' '),
      isField ? null : said(element),
      element.getAttribute('placeholder'),
      element.getAttribute('title'),
    ]
    const found = names.map((name) => (name ?? '').replace(/\s+/g, ' ').trim()).find((name) => name !== '')
    return found ?? ''
  }
  const roleOf = (element: Element): string => {
    const given = element.getAttribute('role')
    if (given !== null) return given
    const type = element.getAttribute('type')
    if (element.matches('a')) return 'link'
    if (element.matches('button,summary') || type === 'submit' || type === 'button') return 'button'
    return type === 'checkbox' || type === 'radio' || type === 'file' ? type : 'field'
  }
  const pages = new WeakMap<Element, string>()
  /** Elements that stay when the page changes. */
  const LASTING = 'body,#root,#content,#content > *,[data-portal],[data-mantine-shared-portal-node]'
  /** The page of an element is the one on which it came, or what holds it: the address changes before the next page is drawn. */
  const pageOf = (element: Element): string => {
    const line: Element[] = []
    for (let at: Element | null = element; at !== null && !at.matches(LASTING); at = at.parentElement) line.push(at)
    const page = line.map((each) => pages.get(each)).find((each) => each !== undefined) ?? pageHere()
    for (const each of line) if (!pages.has(each)) pages.set(each, page)
    return page
  }
  /**
   * Parts of a page are identified by the address under which they came: later content may come under the next one. A part
   * that is added belongs to their page: the next one replaces all of them.
   */
  const markParts = () => {
    for (const part of document.querySelectorAll('#content > * > *')) {
      if (pages.has(part)) continue
      const beside = [...part.parentElement!.children].map((each) => pages.get(each)).find((each) => each !== undefined)
      pages.set(part, beside ?? pageHere())
    }
  }
  const pageHere = (): string => {
    if (document.getElementById('content') === null && !OPEN_PAGES.includes(location.pathname)) return 'outside'
    const [first = '', second, ...rest] = location.pathname.split('/').filter((part) => part !== '')
    const one = second === undefined || second === 'new' ? second : '$id'
    return `/${[first, one, ...rest].filter((part) => part !== undefined).join('/')}`
  }
  const whereOf = (element: Element): readonly [page: string, place: string] => {
    if (element.closest(FRAME) !== null) return ['*', '']
    const place = element.closest(PLACES)
    if (place === null) return [pageOf(element), '']
    // A menu says what opens it, and belongs to the place of that.
    const opener = document.getElementById(place.getAttribute('aria-labelledby') ?? '')
    if (place.matches('[role=menu]') && opener !== null) {
      return opener.closest(FRAME) === null ? [pageOf(element), `menu ${nameOf(opener)}`] : ['*', 'menu']
    }
    if (place.matches('.mantine-Spotlight-content')) return ['*', 'bar']
    return [pageOf(element), place.matches('.mantine-Popover-dropdown') ? 'popover' : nameOfPlace(place)]
  }
  const nameOfPlace = (place: Element) =>
    (byIds(place.getAttribute('aria-labelledby')).trim() || place.getAttribute('aria-label') || '').replace(/\s+/g, ' ')
  const note = (fate: Note[0], element: Element): Note => {
    // One control of several words: whichever is chosen, it was used.
    const group = element.closest('[role=radiogroup]')
    if (group !== null) return [fate, ...whereOf(element), 'radiogroup', nameOf(group)]
    return [fate, ...whereOf(element), roleOf(element), nameOf(element)]
  }
  /** A dialog that is being drawn has no name yet; it is looked at again when it has. */
  const isNameless = (place: Element | null) => place?.matches('[role=dialog]') === true && nameOfPlace(place) === ''
  const isUsable = (element: Element) =>
    element.closest(UNSEEN) === null &&
    !isNameless(element.closest(PLACES)) &&
    !element.matches(
      ':disabled,[aria-disabled=true],[data-disabled]:not([data-disabled=false]),[type=hidden],[role=option]',
    ) &&
    element.checkVisibility({ visibilityProperty: true })
  const tell = (some: readonly Note[]) => {
    const fresh = some.filter((one) => !told.has(one.join('\u0000')))
    if (fresh.length === 0) return
    for (const one of fresh) told.add(one.join('\u0000'))
    // A page that goes away takes its last words with it.
    send(fresh).catch(() => {})
  }
  const look = () => {
    if (isConsole()) tell([...document.querySelectorAll(CONTROLS)].filter(isUsable).map((one) => note('seen', one)))
  }
  let isWaiting = false
  const lookSoon = () => {
    if (isWaiting) return
    isWaiting = true
    setTimeout(() => {
      isWaiting = false
      look()
    }, PAUSE_MS)
  }
  const use = (event: Event) => {
    if (!isConsole() || !(event.target instanceof Element)) return
    const control = event.target.closest(CONTROLS)
    if (control === null) return
    look()
    const used = [control]
    // A file is chosen by a button; the field behind it is not to be seen.
    if (control.matches('[type=file]')) used.push(...(control.parentElement?.querySelectorAll('button,label') ?? []))
    tell(used.map((one) => note('used', one)))
  }
  for (const kind of ['click', 'input', 'change']) addEventListener(kind, use, true)
  // Controls that are dragged, or reached by arrow keys, are not clicked.
  const MOVED = '[aria-roledescription],[role=tab],[role=slider]'
  const move = (event: Event) => {
    if (event.target instanceof Element && event.target.closest(MOVED) !== null) use(event)
  }
  for (const kind of ['keydown', 'pointerdown']) addEventListener(kind, move, true)
  // The address changes before the next page is drawn: the content still belongs to the one before.
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = history[name].bind(history)
    history[name] = (...words) => {
      look()
      change(...words)
    }
  }
  addEventListener('DOMContentLoaded', () => {
    new MutationObserver(() => {
      markParts()
      lookSoon()
    }).observe(document, {
      ...{ childList: true, subtree: true, attributes: true },
      attributeFilter: [
        'disabled',
        'aria-disabled',
        'data-disabled',
        'aria-hidden',
        'aria-labelledby',
        'style',
        'class',
      ],
    })
    lookSoon()
  })
}
