import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { profileObject, profileText } from '../../model/single-sign-on/idp-profile.ts'
import { trimTrailing } from '../../model/text/trim-trailing.ts'
import type { DashboardParts } from '../server/parts.ts'

/** Where a sign-in may lead to. */
export type SignInDestination =
  /** Of the dashboard itself: path and query. */
  | { readonly is: 'own'; readonly path: string }
  /** Elsewhere, and registered in `sso.return_urls`. */
  | { readonly is: 'registered'; readonly url: URL }

const OWN = 'http://dashboard.invalid'

/** The place that a text names; undefined when it is not one that sign-ins may lead to. '' and `/tap` are the dashboard's start. */
export function signInDestinationOf({ config }: DashboardParts, text: string): SignInDestination | undefined {
  if (text === '') return { is: 'own', path: '/' }
  // `//host` and `/\host` are other hosts to a browser.
  const own = /^\/(?![/\\])/.test(text) ? new URL(text, OWN) : undefined
  if (own?.origin === OWN) return ownPlace(own)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') return undefined
  const { public_url: address } = config.dashboard
  if (address !== '' && url.origin === new URL(address).origin) return ownPlace(url)
  return config.sso.return_urls.some((known) => URL.canParse(known) && new URL(known).href === url.href)
    ? { is: 'registered', url }
    : undefined
}

function ownPlace({ pathname, search }: URL): SignInDestination {
  const path = pathname.replace(/^[/\\]+/, '/')
  return { is: 'own', path: path === '/tap' || path === '/tap/' ? '/' : path + search }
}

/** Refuses a profile that leads to places that are not registered. @throws Fault `profile_invalid` (400) */
export function checkDestinations(parts: DashboardParts, profile: JsonObject): void {
  const failure = profileText(profileObject(profile, 'ProviderConfig'), 'FailureRedirect')
  for (const [name, text] of [
    ['ReturnURL', profileText(profile, 'ReturnURL')],
    ['ProviderConfig.FailureRedirect', failure],
  ] as const) {
    if (signInDestinationOf(parts, text) === undefined)
      throw fault(
        'profile_invalid',
        `${name}: is neither of the dashboard (dashboard.public_url) nor in sso.return_urls`,
      )
  }
}

/** Where a place is, for `Location`. */
export function locationOf(place: SignInDestination): string {
  return place.is === 'own' ? place.path : place.url.href
}

/**
 * Where browsers come back to: below the address that the profile gives, else `dashboard.public_url`.
 * @throws Fault `sso_failed` (403), for the log, when neither is an address
 */
export function baseOf({ config }: DashboardParts, given: string): string {
  const base = given === '' ? config.dashboard.public_url : given
  const url = URL.canParse(base) ? new URL(base) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username !== '')
    throw fault(
      'sso_failed',
      'dashboard.public_url, or the base URL of the profile, must say where browsers come back to',
    )
  return trimTrailing(url.href, '/')
}
