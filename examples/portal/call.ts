import { type Html, html } from './html.ts'
import type { PortalCalls } from './portal-calls.ts'
import type { Session } from './sessions.ts'
import type { Developer } from './shapes.ts'
import { type Answer, PageError } from './web.ts'

/** A developer who is signed in, read for this request. */
export interface Member {
  readonly session: Session
  readonly developer: Developer
}

/** One request of a browser, with everything that its answer is made from. */
export interface Call {
  readonly portal: PortalCalls
  /** Path and query. */
  readonly address: string
  readonly path: string
  readonly params: ReadonlyMap<string, string>
  readonly query: ReadonlyMap<string, string>
  /** The fields of a POST. */
  readonly form: ReadonlyMap<string, string>
  /** Address of the browser. */
  readonly visitor: string
  readonly member: Member | undefined
  /** The name of this portal. */
  readonly brand: string
  /** Shown once, after something was done. */
  readonly notice: string
  /** For the forms of the page. */
  readonly formToken: string
  /** Begins a session; returns its `Set-Cookie`. */
  enter(developerId: string, portal: Session['portal']): string
  /** Ends the session; returns the `Set-Cookie` that replaces it. */
  leave(): string
}

/** A page or a form of this portal. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** `:name` matches any one segment. */
  readonly path: string
  /** `member`: a visitor has to sign in first. */
  readonly for: 'everybody' | 'member'
  run(call: Call): Promise<Answer> | Answer
}

/** The member of a call whose route is for members. */
export function memberOf({ member }: Pick<Call, 'member'>): Member {
  if (member === undefined) throw new PageError(403, 'Not signed in', 'Sign in and try again.')
  return member
}

/** The token that every form carries. */
export function formToken({ formToken: token }: Pick<Call, 'formToken'>): Html {
  return html`<input type="hidden" name="form_token" value="${token}">`
}

/** The error for things that cannot be found, or belong to another developer: nobody learns which. */
export function notFound(what: string): PageError {
  return new PageError(404, 'Not found', `There is no such ${what}.`)
}
