import { call, type Envelope, withQuery } from '../calls/call.ts'
import type { Page } from './developers.ts'

/** A page of the portal. What is not named here is kept. */
export interface PortalPage {
  readonly id: string
  readonly title: string
  /** Path below the portal. */
  readonly slug: string
  readonly is_homepage: boolean
  readonly template_name: string
  /** The values of the template. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** A line of a menu of the portal. What is not named here is kept. */
export interface MenuItem {
  readonly title: string
  readonly url: string
}

/** The menus of the portal by their names. */
export interface PortalMenus {
  readonly is_active: boolean
  readonly menus: Readonly<Record<string, readonly MenuItem[]>>
}

export const PORTAL_PAGES_KEY = ['portal-pages'] as const
export const PORTAL_MENUS_KEY = ['portal-menus'] as const
const PATH = '/api/portal/pages'
const MENUS = '/api/portal/menus'

const at = (id: string) => `${PATH}/${encodeURIComponent(id)}`

/** A page of the pages of the portal, by title. @throws CallError */
export function listPortalPages(page: string, signal: AbortSignal): Promise<Page<PortalPage>> {
  return call('GET', withQuery(PATH, { p: page }), { signal })
}

/** @throws CallError 404 */
export function readPortalPage(id: string): Promise<PortalPage> {
  return call('GET', at(id))
}

/** @throws CallError 400 naming the member that is wrong */
export function createPortalPage(page: Omit<PortalPage, 'id'>): Promise<Envelope> {
  return call('POST', PATH, { body: page })
}

/** Replaces a page. @throws CallError 400 naming the member that is wrong, 404 */
export function replacePortalPage({ id, ...page }: PortalPage): Promise<Envelope> {
  return call('PUT', at(id), { body: page })
}

/** @throws CallError */
export function deletePortalPage(id: string): Promise<Envelope> {
  return call('DELETE', at(id))
}

/** @throws CallError */
export function readPortalMenus(signal?: AbortSignal): Promise<PortalMenus> {
  return call('GET', MENUS, signal && { signal })
}

/** Replaces all menus. @throws CallError 400 naming the menu that is wrong */
export function savePortalMenus(menus: PortalMenus): Promise<Envelope> {
  return call('PUT', MENUS, { body: menus })
}
