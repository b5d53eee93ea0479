import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { PortalSession } from './dashboard.ts'

/** Something that is shown once: a key, or the secret of an app. */
export interface Shown {
  readonly title: string
  readonly rows: readonly { readonly label: string; readonly value: string }[]
  readonly note: string
  /** The page that follows. */
  readonly next: string
}

/** A developer who has signed in. */
export interface Session {
  readonly id: string
  readonly developerId: string
  /** The session at the dashboard, which this one cannot outlive. */
  readonly portal: PortalSession
  /** Said on the next page. */
  notice: string
  /** By a name that only the browser's address line knows. */
  readonly shown: Map<string, Shown>
  readonly endsAt: number
}

const LIFE_MS = 12 * 3_600_000
const MAX_SESSIONS = 10_000
const MAX_SHOWN = 20

/** The sessions of this process, in memory. Visitors who have not signed in have a cookie too, but nothing is kept of them. */
export class Sessions {
  readonly #sessions = new Map<string, Session>()
  readonly #formKey = randomBytes(32)

  find(id: string): Session | undefined {
    const session = this.#sessions.get(id)
    return session !== undefined && session.endsAt > Date.now() ? session : undefined
  }

  /** Begins a session under a new id, so that one planted before is worth nothing (session fixation). */
  begin(developerId: string, portal: PortalSession): Session {
    const endsAt = Date.now() + LIFE_MS
    const session = { id: newId(), developerId, portal, notice: '', shown: new Map<string, Shown>(), endsAt }
    this.#sessions.set(session.id, session)
    if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(this.#sessions.keys().next().value!)
    return session
  }

  end({ id }: Session): void {
    this.#sessions.delete(id)
  }

  /**
   * A field of every form of a browser: another site can make it send a form with our cookie, but not with this (CSRF). It follows
   * from the cookie, so that visitors cost no memory.
   */
  formToken(id: string): string {
    return createHmac('sha256', this.#formKey).update(id).digest('base64url')
  }

  isFormToken(id: string, given: string): boolean {
    const expected = Buffer.from(this.formToken(id))
    const sent = Buffer.from(given)
    return sent.length === expected.length && timingSafeEqual(sent, expected)
  }
}

/** A new value for the cookie. */
export function newId(): string {
  return randomBytes(32).toString('base64url')
}

/** True for what could be a cookie of ours. */
export function isId(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/** Keeps something until its page is opened, once. Answers the address of that page. */
export function showOnce({ shown }: Session, what: Shown): string {
  const name = randomBytes(16).toString('base64url')
  shown.set(name, what)
  if (shown.size > MAX_SHOWN) shown.delete(shown.keys().next().value!)
  return `/shown/${name}`
}
