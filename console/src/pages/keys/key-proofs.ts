import type { KeySession } from '../../api/access/keys.ts'
import { newKey } from '../../api/traffic/home.ts'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'

/** The type of a new session; an existing one keeps its type. */
const isKey = ({ kind }: FormValues) => kind === undefined || kind === 'key'
const FEWEST_LETTERS = 16

/** True for a session that is found by a client certificate, and has no key. */
export function isOfCertificate({ certificate }: KeySession): boolean {
  return typeof certificate === 'string' && certificate !== ''
}

/** The form values of a session's credentials: never a secret. */
export function proofValues(session: KeySession): FormValues {
  return { signs: session.hmac_enabled === true, secret: '', newPassword: '' }
}

/** Fields for what a caller proves itself with besides the text of a key; `before` is {} for a new session. */
export function proofFields(before: KeySession): readonly Field[] {
  if (before.user_name !== undefined) {
    const words = { label: say('keys.newPassword'), hint: say('keys.newPasswordHint') }
    return [{ kind: 'password', name: 'newPassword', ...words, autoComplete: 'new-password' }]
  }
  if (isOfCertificate(before)) return []
  const isShort = (value: unknown) => String(value).length < FEWEST_LETTERS
  return [
    { kind: 'switch', name: 'signs', label: say('keys.signs'), hint: say('keys.signsHint'), when: isKey },
    {
      ...{ kind: 'password', name: 'secret', label: say('keys.secret'), autoComplete: 'off' },
      hint: say(before.hmac_enabled === true ? 'keys.secretKeepHint' : 'keys.secretHint'),
      when: (all) => isKey(all) && all.signs === true,
      check: (value) => (isShort(value) ? say('keys.secretShort') : undefined),
    },
  ]
}

/** The session with what its form says of proofs; a secret that is needed and was not given is made here. */
export function withProofs(session: KeySession, values: FormValues, before: KeySession): KeySession {
  if (values.kind === 'certificate') return { ...session, certificate: String(values.certificate).trim() }
  if (before.user_name !== undefined) {
    const password = String(values.newPassword)
    if (password === '') return session
    return { ...session, basic_auth_data: { ...(before.basic_auth_data as object), password } }
  }
  if (values.kind === 'user' || isOfCertificate(before)) return session
  if (values.signs !== true) {
    return before.hmac_enabled === true ? { ...session, hmac_enabled: false, hmac_string: '' } : session
  }
  const secret = String(values.secret) || String(before.hmac_string ?? '') || newKey()
  return { ...session, hmac_enabled: true, hmac_string: secret }
}

/** The session as people may see it beside another: without secrets, but telling whether they are the same. */
export function withoutSecrets(session: KeySession): KeySession {
  const { hmac_string: secret, basic_auth_data: login, ...rest } = session
  const { password: _hidden, ...kept } = (login ?? {}) as { readonly password?: string }
  return {
    ...rest,
    ...(login !== undefined && { basic_auth_data: login === null ? null : kept }),
    ...(typeof secret === 'string' && { hmac_string: secret === '' ? '' : `#${markOf(secret)}` }),
  }
}

/** A few digits that distinguish two texts without revealing them (FNV-1a). */
function markOf(text: string): string {
  let mark = 0x811c9dc5
  for (let at = 0; at < text.length; at++) mark = Math.imul(mark ^ text.charCodeAt(at), 0x01000193)
  return (mark >>> 0).toString(16).padStart(8, '0')
}
