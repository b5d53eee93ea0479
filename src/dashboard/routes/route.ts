import type { TSchema } from 'typebox'
import type { Intent } from '../../model/people/permission.ts'
import type { Awaitable } from '../../store/ports/ports.ts'
import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import type { EntityVersion } from './entity-version.ts'

/** Who may make a call, before anything is known of what it names. */
export type Access =
  /** Anybody: sign-in, health, documents about the API. */
  | 'public'
  /** Any signed-in user. */
  | 'signed-in'
  /** Administrators of the organisation. */
  | 'admin'
  /** The admin secret, in `admin-auth`. */
  | 'installation'
  /** This permission; the intent follows from the method unless said otherwise (a search by POST only reads). */
  | {
      readonly permission: string
      readonly intent?: Intent
      /** True for analytics that cannot be limited by API: refused to users who may see only those of their own APIs. */
      readonly beyondApis?: true
    }

/** Reads the current version of what a call names. @throws Fault `not_found` where it is not there, or as undefined */
export type VersionReader = (call: Call) => Awaitable<EntityVersion | undefined>

/** Which part of the path names something that may have owners; `permit` looks it up and refuses who does not own it. */
export interface Owned {
  readonly noun: 'api' | 'policy' | 'key' | 'oauth_client' | 'developer_app' | 'key_request' | 'documentation'
  /** Name of the placeholder in the path. */
  readonly by: string
  /**
   * Of a call that writes: true where it leaves what holds for APIs of others as it is. Other writes of what is based on several APIs
   * need all of them.
   */
  readonly keepsOthers?: true
}

/**
 * One call of the dashboard API: a declaration. From the table of all of them come routing, access, checks of what is sent, the
 * OpenAPI document and the access matrix of the tests.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/api/users/{id}`; answers with and without a slash at its end. A word beats a placeholder. */
  readonly path: string
  readonly access: Access
  readonly owned?: Owned
  /**
   * Placeholder that names a user: a call about the caller's own record needs no permission, not even for unbounded
   * users.
   */
  readonly own?: string
  /**
   * Placeholders and query parameters, besides `owned` ones, in which callers may send a key itself: records of the call mask it
   * (`safeUrl`). Parameters that are not declared are masked anyway.
   */
  readonly keysIn?: readonly string[]
  /** True for a call of `installation` that the secret of scrapers (`metrics.secret`) opens as well, and for a public one that answers it more. */
  readonly scraped?: true
  /** One line for the API document. */
  readonly summary: string
  /** The replacement: the API document marks the call as deprecated. */
  readonly deprecated?: string
  /** Parameters sent as '' count as not sent. Unknown ones are ignored. */
  readonly query?: Readonly<Record<string, TSchema>>
  /** Schema of the body; JSON with any Content-Type, unless `form` or `upload`. */
  readonly body?: TSchema
  readonly bodyIs?: 'form' | 'upload' | 'any'
  /** Media types of the body for the API document, where it may have several. */
  readonly bodyTypes?: readonly string[]
  /** True where the body may be missing. */
  readonly bodyOptional?: true
  /** Largest body, in bytes, of a public call that takes more than 64 kB. */
  readonly bodyLimit?: number
  /** True for a GET that uses something up, such as a nonce: HEAD, which those send who look where a link leads, does not make it. */
  readonly once?: true
  /** True for a call that carries other people's messages: detailed recording leaves out what was sent and answered. */
  readonly undumped?: true
  /** Message of the 400 for a body that does not match the schema, where this call has a specific one. */
  readonly invalid?: string
  /** Body of the answer by status; refusals are the envelope everywhere. */
  readonly answers: Readonly<Record<number, TSchema>>
  /** Statuses of refusals for the API document, besides those that follow from access, path and method. */
  readonly refusals?: readonly number[]
  /** Media type of these answers for the API document, where it is not JSON. */
  readonly answerType?: string
  /** Media type of the text among these answers, where there is one beside JSON. */
  readonly textType?: string
  /** The path of which this one is another spelling: the API document has only that. */
  readonly aliasOf?: string
  /** The current version of the entity in the path, where it has a revision, or an answer that changes by itself. */
  readonly entityVersion?: VersionReader
  /** The versions that preconditions are compared with: those that the caller may have seen. `withEntityVersions` fills them in. */
  readonly entityVersions?: readonly VersionReader[]
  readonly run: (call: Call) => Awaitable<Answer>
}

/** A declared path in the words of the router: `/a/{id}` is `/a/:id`. */
export function routerPath(path: string): string {
  return path.replaceAll(/\{([^{}]*)\}/g, ':$1')
}
