import { isObject, type Json } from '../../model/json/json.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import type { Millis } from '../../model/time/clock.ts'
import { newTicket } from '../../store/ports/new-ticket.ts'
import type { Change } from '../../store/ports/ports.ts'

/** The name ID of a user at a SAML identity provider: stored with the session, because a log-out request contains it. */
export interface IdpSubject {
  /** Id of the identity profile. */
  readonly profile: string
  readonly nameId: string
  /** '' = the provider does not say; those below too. */
  readonly format: string
  readonly nameQualifier: string
  readonly spNameQualifier: string
  /** The provider's own session. */
  readonly sessionIndex: string
}

/** Reads what a session or a sign-in has kept; undefined for one that came otherwise. */
export function idpSubjectOf(value: Json | undefined): IdpSubject | undefined {
  if (!isObject(value) || typeof value.nameId !== 'string') return undefined
  const text = (name: string) => (typeof value[name] === 'string' ? (value[name] as string) : '')
  return {
    profile: text('profile'),
    nameId: value.nameId,
    format: text('format'),
    nameQualifier: text('nameQualifier'),
    spNameQualifier: text('spNameQualifier'),
    sessionIndex: text('sessionIndex'),
  }
}

/** The family of the tickets that say which users came as a subject. */
export function subjectFamily({ profile, nameId }: Pick<IdpSubject, 'profile' | 'nameId'>): string {
  return `saml:${hashKey(JSON.stringify([profile, nameId])).toString('hex')}`
}

/** The change that lets a log-out which names the subject find the sessions of a user, until a time. */
export function noteSubject(subject: IdpSubject, user: string, until: Millis): Change {
  const family = subjectFamily(subject)
  const row = newTicket('sso', until, { family, body: { use: 'saml_subject', user } })
  return { op: 'putTicket', hash: hashKey(`saml_subject:${family}:${user}`), row }
}
