import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { IdpProviderName } from '../../model/single-sign-on/idp-profile.ts'
import { foldCase, normaliseText } from '../../model/text/fold.ts'
import { isThrottled } from '../../runtime/login-throttle.ts'
import type { Answer } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { beginAttempt, throttled } from '../sign-in/attempts.ts'
import { checkOrigin } from '../sign-in/origin.ts'
import { page, refusedSignIn } from './answers.ts'
import { replayed } from './enter.ts'
import { failurePlace, finishSignIn } from './finish.ts'
import { checkDirectory, type DirectoryCredentials } from './ldap.ts'
import { beginOidc, endOidc, OPENID } from './oidc.ts'
import { type UsedProfile, usedProfile } from './profiles.ts'
import { beginSaml, endSaml, ownSamlMetadata, takeSamlResponse } from './saml.ts'
import { takeSamlLogout } from './saml-logout.ts'

/** Providers by the name that they have in sign-in addresses. */
const PROVIDERS: ReadonlyMap<string, IdpProviderName> = new Map([
  [OPENID, 'SocialProvider'],
  ['saml', 'SAMLProvider'],
  ['ADProvider', 'ADProvider'],
])
const WORDS = new Map([...PROVIDERS].map(([word, provider]) => [provider, word] as const))
const ANSWERS = { 200: Type.String(), 303: Type.String(), 403: Type.String(), 404: Type.String(), 429: Type.String() }
const PATH = '/auth/{profile_id}'
const SAML_BYTES = 716_800
/** Where what a provider sent is used up. */
const ONCE = /\/(?:callback|finish|logout)$/

/** Where people begin to sign in by a profile, below the address of the dashboard. */
export function signInPath(profileId: string, provider: IdpProviderName): string {
  return `/auth/${encodeURIComponent(profileId)}/${WORDS.get(provider)}`
}

/** Signing in elsewhere: at an OpenID provider, a SAML identity provider, or with the password of a directory. */
export function identityBrokerRoutes(parts: DashboardParts): Route[] {
  const route = (method: 'GET' | 'POST', path: string, summary: string, run: Route['run']): Route => ({
    ...{ method, path, summary, run },
    ...(method === 'POST' && { bodyIs: 'form' as const }),
    ...(method === 'GET' && ONCE.test(path) && { once: true as const }),
    access: 'public',
    answers: ANSWERS,
    answerType: 'text/html',
  })
  return [
    route('GET', `${PATH}/{provider}`, 'Begins a sign-in at an identity provider', (call) => begin(parts, call)),
    route('POST', `${PATH}/{provider}`, 'Signs in with name and password of a directory', (call) =>
      byPassword(parts, call),
    ),
    route('GET', `${PATH}/{provider}/callback`, 'Where an OpenID provider sends the browser back to', (call) =>
      guarded(parts, call, only(call, OPENID), async (used) => {
        const { proven, changes } = await endOidc(parts, call, used)
        return finishSignIn(parts, call, used, proven, changes)
      }),
    ),
    {
      ...route(
        'POST',
        `${PATH}/saml/callback`,
        'Where a SAML identity provider makes the browser send its answer',
        (call) => guarded(parts, call, 'SAMLProvider', (used) => takeSamlResponse(parts, call, used)),
      ),
      bodyLimit: SAML_BYTES,
    },
    route('GET', `${PATH}/saml/finish`, 'Ends a sign-in by SAML in the browser that began it', (call) =>
      guarded(parts, call, 'SAMLProvider', async (used) => {
        const { proven, changes } = await endSaml(parts, call, used)
        return finishSignIn(parts, call, used, proven, changes)
      }),
    ),
    route('GET', `${PATH}/saml/logout`, 'Where a SAML identity provider sends the browser to log out', (call) =>
      guarded(parts, call, 'SAMLProvider', (used) => takeSamlLogout(parts, call, used)),
    ),
    {
      ...route('GET', `${PATH}/saml/metadata`, 'Get the SAML metadata of this dashboard', (call) =>
        guarded(parts, call, 'SAMLProvider', async (used) => ({
          status: 200,
          type: 'application/samlmetadata+xml; charset=utf-8',
          body: await ownSamlMetadata(parts, used),
        })),
      ),
      answerType: 'application/samlmetadata+xml',
    },
  ]
}

function begin(parts: DashboardParts, call: Call): Promise<Answer> {
  const provider = PROVIDERS.get(call.param('provider'))
  return guarded(parts, call, provider, async (used) => {
    if (provider === 'SocialProvider') return beginOidc(parts, call, used)
    return provider === 'SAMLProvider' ? beginSaml(parts, call, used) : form(used)
  })
}

function byPassword(parts: DashboardParts, call: Call): Promise<Answer> {
  return guarded(parts, call, only(call, 'ADProvider'), async (used) => {
    checkOrigin(parts, call)
    const typed = typedIn(used, call)
    // Directories take many spellings for one name (RFC 4518).
    const name = foldCase(normaliseText(typed.username, 'NFKC').replace(/\s+/g, ' ').trim()).slice(0, 254)
    const begun = beginAttempt(parts, `ldap:${used.profile.id}:${name}`, call)
    if (isThrottled(begun)) throw throttled(begun)
    let proven: Awaited<ReturnType<typeof checkDirectory>>
    try {
      proven = await checkDirectory(parts, used, typed)
    } catch (error) {
      begun.giveBack()
      throw error
    }
    if (proven === undefined) throw fault('sso_refused', 'the name or the password is wrong')
    begun.succeed()
    return finishSignIn(parts, call, used, proven, [])
  })
}

/** Name and password of the form, or of Basic authentication where the profile takes it. */
function typedIn({ profile }: UsedProfile, call: Call): DirectoryCredentials {
  const form = call.form()
  const sent = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(call.header('authorization') ?? '')?.[1]
  if (profile.config.GetAuthFromBAHeader !== true || sent === undefined)
    return { username: (form.get('username') ?? '').trim(), password: form.get('password') ?? '' }
  const [username = '', password = ''] = Buffer.from(sent, 'base64').toString('utf8').split(/:(.*)/s)
  return { username, password }
}

function form({ profile }: UsedProfile): Answer {
  const fields = [
    '<p><label>User name <input name="username" autocomplete="username" required autofocus></label></p>',
    '<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>',
  ]
  const action = `/auth/${profile.id}/ADProvider`
  return page(
    200,
    'Sign in',
    `<h1>Sign in</h1><form method="post" action="${action}">${fields.join('')}<p><button>Sign in</button></p></form>`,
  )
}

/** Finds the profile, and turns every refusal into a response for the browser. */
async function guarded(
  parts: DashboardParts,
  call: Call,
  provider: IdpProviderName | undefined,
  work: (used: UsedProfile) => Promise<Answer>,
): Promise<Answer> {
  let used: UsedProfile | undefined
  try {
    if (provider === undefined) throw fault('profile_unknown')
    used = await usedProfile(parts, call.param('profile_id'), provider)
    return await work(used)
  } catch (error) {
    return refusedSignIn(parts, call, replayed(error), used && failurePlace(parts, used))
  }
}

/** The provider that an address is for, where it is the one that the path names. */
function only(call: Call, name: string): IdpProviderName | undefined {
  return call.param('provider') === name ? PROVIDERS.get(name) : undefined
}
