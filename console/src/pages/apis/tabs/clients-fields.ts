import type { ClientWanted, OAuthClient } from '../../../api/access/clients.ts'
import { isRecord } from '../../../api/calls/call.ts'
import type { Field, FormValue, FormValues } from '../../../parts/forms/record-form.tsx'
import { policiesField } from '../../../parts/portal/policy-picker.tsx'
import { say } from '../../../texts/say.ts'
import { pairsField, pairsOf, textsOf } from '../../developers/pairs-input.tsx'

const METHODS = [
  ...(['any', 'client_secret_basic', 'client_secret_post'] as const),
  ...(['private_key_jwt', 'tls_client_auth', 'none'] as const),
] as const
const WITHOUT_SECRET: readonly FormValue[] = ['private_key_jwt', 'tls_client_auth', 'none']
const REQUIREMENTS = [
  'require_pushed_authorization_requests',
  'dpop_bound_access_tokens',
  'tls_client_certificate_bound_access_tokens',
] as const
const YEAR_S = 31_536_000

/** True for a client that proves itself by a secret. */
export function needsSecret({ auth_method: method = 'any' }: Pick<OAuthClient, 'auth_method'>): boolean {
  return !WITHOUT_SECRET.includes(method)
}

/** The fields of a client; id and secret only of a new one. */
export function clientFields(isNew: boolean): readonly Field[] {
  const ids: readonly Field[] = [
    { kind: 'text', name: 'client_id', label: say('clients.id'), hint: say('clients.idHint'), autoComplete: 'off' },
    {
      ...{ kind: 'text', name: 'secret', label: say('clients.secret'), hint: say('clients.secretHint') },
      ...{ autoComplete: 'off', when: ({ auth_method }) => !WITHOUT_SECRET.includes(auth_method!) },
    },
  ]
  const hint = isNew ? say('clients.policiesHint') : `${say('clients.policiesHint')} ${say('clients.policiesFollow')}`
  const policies: Field = { ...policiesField(hint), required: isNew }
  return [
    { kind: 'text', name: 'client_name', label: say('clients.appName'), hint: say('clients.appNameHint') },
    {
      ...{ kind: 'list', name: 'redirect_uris', label: say('clients.redirects'), hint: say('clients.redirectsHint') },
      required: true,
    },
    policies,
    {
      ...{ kind: 'choice', name: 'auth_method', label: say('clients.method') },
      choices: METHODS.map((value) => ({ value, label: say(`clients.method.${value}`) })),
    },
    {
      ...{ kind: 'url', name: 'jwks_uri', label: say('clients.jwksUri'), hint: say('clients.jwksUriHint') },
      placeholder: 'https://app.example.com/jwks.json',
      when: ({ auth_method }) => auth_method === 'private_key_jwt',
    },
    {
      ...{ kind: 'area', name: 'jwks', label: say('clients.jwks'), hint: say('clients.jwksHint'), required: true },
      when: ({ auth_method, jwks_uri }) => auth_method === 'private_key_jwt' && jwks_uri === '',
      check: (text) => (isRecord(jsonOf(String(text))) ? undefined : say('clients.jwksWrong')),
    },
    {
      ...{ kind: 'text', name: 'certificate', label: say('clients.certificate'), required: true },
      hint: say('clients.certificateHint'),
      when: ({ auth_method }) => auth_method === 'tls_client_auth',
    },
    ...(isNew ? ids : []),
    {
      ...{ kind: 'number', name: 'token_lifetime', label: say('clients.lifetime'), min: 0, max: YEAR_S },
      hint: say('clients.lifetimeHint'),
    },
    ...REQUIREMENTS.map(
      (name): Field => ({
        ...{ kind: 'switch', name, label: say(`clients.${name}`), hint: say(`clients.${name}Hint`) },
      }),
    ),
    { kind: 'area', name: 'description', label: say('clients.description') },
    pairsField('metadata', say('clients.metadata'), say('clients.metadataHint')),
  ]
}

/** The form values of a client. */
export function clientValues(client: Partial<OAuthClient> | ClientWanted): FormValues {
  const texts = Object.entries(client.metadata ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return {
    ...{ client_id: '', secret: '', client_name: client.client_name ?? '', description: client.description ?? '' },
    redirect_uris: client.redirect_uris ?? [],
    policies: client.policies ?? [],
    auth_method: client.auth_method ?? 'any',
    jwks: isRecord(client.jwks) ? JSON.stringify(client.jwks, null, 2) : '',
    jwks_uri: client.jwks_uri ?? '',
    certificate: client.certificate ?? '',
    ...Object.fromEntries(REQUIREMENTS.map((name) => [name, client[name] === true])),
    token_lifetime: client.token_lifetime ?? 0,
    metadata: pairsOf(Object.fromEntries(texts)),
  }
}

/** The client with the form's changes. */
export function clientOf(values: FormValues, before: Partial<OAuthClient> | ClientWanted): ClientWanted {
  const old = before.metadata ?? {}
  const metadata = Object.entries(textsOf(values.metadata)).map(([name, text]) => {
    const was = Object.hasOwn(old, name) ? old[name] : ''
    return [name, typeof was === 'string' ? text : (jsonOf(text) ?? text)]
  })
  const proves = values.auth_method === 'private_key_jwt'
  return {
    client_name: String(values.client_name),
    description: String(values.description),
    redirect_uris: values.redirect_uris as readonly string[],
    policies: values.policies as readonly string[],
    auth_method: String(values.auth_method),
    token_lifetime: Number(values.token_lifetime) || 0,
    metadata: Object.fromEntries(metadata),
    jwks_uri: proves && values.jwks_uri !== '' ? String(values.jwks_uri) : null,
    jwks: proves && values.jwks_uri === '' ? (jsonOf(String(values.jwks)) as Record<string, unknown>) : null,
    ...Object.fromEntries(REQUIREMENTS.map((name) => [name, values[name] === true])),
    certificate: values.auth_method === 'tls_client_auth' ? String(values.certificate) : null,
    ...(values.client_id !== '' && { client_id: String(values.client_id) }),
    ...(values.secret !== '' &&
      needsSecret({ auth_method: String(values.auth_method) }) && {
        secret: String(values.secret),
      }),
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
