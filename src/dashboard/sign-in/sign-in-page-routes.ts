import { Type } from 'typebox'
import { type IdpProfile, idpProfileOf } from '../../model/single-sign-on/idp-profile.ts'
import { readInstallation } from '../../publish/organisations/installation.ts'
import { findOrganisation } from '../../publish/organisations/organisations.ts'
import { bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { signInPath } from '../single-sign-on/identity-broker-routes.ts'
import { uncached } from './browser.ts'
import { readSessionCookie } from './cookie.ts'
import { sessionOf } from './sessions.ts'

const PATH = '/api/login/options'
const MOST_PROVIDERS = 50

const PROVIDERS = Type.Array(
  Type.Object(
    {
      name: Type.String({ description: 'Name for the button of the sign-in page.' }),
      url: Type.String({ description: 'Where to go, or to send the form of name and password.' }),
      kind: Type.Enum(['redirect', 'form'], {
        description: '`redirect`: a link. `form`: a form that asks for name and password.',
      }),
    },
    { title: 'IdentityProvider' },
  ),
  { description: 'Ways to sign in elsewhere.' },
)

/** The data of the page before the console, for visitors who are not signed in. */
export function signInPageRoutes(parts: DashboardParts): Route[] {
  const options = (path: string, providers: 'identity_providers' | 'doors'): Route => ({
    method: 'GET',
    path,
    access: 'public',
    summary: 'Read the ways to sign in, and whether this browser is signed in',
    answers: {
      200: Type.Object({
        signed_in: Type.Boolean({ description: 'True where the caller has a session.' }),
        set_up_open: Type.Boolean({ description: 'The set-up link has not been used yet.' }),
        sends_mail: Type.Boolean({ description: 'A forgotten password can be set by a link in a mail.' }),
        mail_configured: Type.Boolean({ description: 'Mails are sent, such as keys to developers.' }),
        [providers]: PROVIDERS,
      }),
    },
    run: async (call) =>
      uncached(
        bare({
          signed_in: await isSignedIn(parts, call),
          set_up_open: ((await readInstallation(parts))?.setup_hash ?? '') !== '',
          sends_mail: parts.mailer.isOn && parts.config.dashboard.public_url !== '',
          mail_configured: parts.mailer.isOn,
          [providers]: await providersOf(parts),
        }),
      ),
  })
  return [options(PATH, 'identity_providers'), { ...options('/api/login/doors', 'doors'), deprecated: `GET ${PATH}` }]
}

async function isSignedIn(parts: DashboardParts, call: Call): Promise<boolean> {
  const cookie = readSessionCookie(call.header('cookie'))
  return cookie !== undefined && (await sessionOf(parts, cookie)) !== undefined
}

/** Identity profiles that lead into the dashboard, of organisations that have single sign-on. */
async function providersOf(parts: DashboardParts) {
  const { rows } = await parts.documents.list('idp_profile', { order: 'name_folded', limit: MOST_PROVIDERS })
  const profiles = rows.map(({ body }) => idpProfileOf(body))
  const open = await Promise.all(profiles.map((profile) => isOpen(parts, profile)))
  return profiles
    .filter((_profile, i) => open[i])
    .map(({ id, name, provider }) => ({
      name: name === '' ? id : name,
      url: signInPath(id, provider!),
      kind: provider === 'ADProvider' ? ('form' as const) : ('redirect' as const),
    }))
}

async function isOpen(parts: DashboardParts, profile: IdpProfile): Promise<boolean> {
  if (profile.provider === undefined || profile.action !== 'GenerateOrLoginUserProfile') return false
  return (await findOrganisation(parts, profile.orgId))?.body.sso_enabled === true
}
