import type { Json, JsonObject } from '../../model/json/json.ts'
import type { Actor } from '../access/actor.ts'
import type { Visibility } from '../access/visibility.ts'

/** One call on its way: what was sent, checked against its route, and who sent it. */
export interface Call {
  /** Undefined for public routes without a credential, and for the installation's own. */
  readonly actor: Actor | undefined
  /** True for a call with the admin secret, or with that of scrapers, where the route takes it. */
  readonly installation: boolean
  /** The visibility of the actor. */
  readonly visibility: Visibility
  /** A placeholder of the path, percent-decoded. */
  param(name: string): string
  /** A query parameter; '' when it was not sent. @throws Fault `query_invalid` (400) when it was sent more than once */
  query(name: string): string
  /** All values of a query parameter. */
  queryAll(name: string): readonly string[]
  /**
   * The body as a JSON object. @throws Fault `body_malformed` (403 here), `body_too_large`; `query_invalid` (400) for a member
   * that is in the query as well
   */
  object(): JsonObject
  /** The body as JSON of any sort. @throws Fault `body_malformed` (403 here) */
  json(): Json
  /** The body as it came; of an `upload` the first file in it. */
  bytes(): Uint8Array
  /** A form body; of an `upload` the fields that are no files. @throws Fault as `object`, also for a repeated field */
  form(): URLSearchParams
  header(lowerName: string): string | undefined
  /** Address of the client as trusted proxies tell it. */
  readonly clientAddress: string
  /** Address of the other end of the connection: the client's, or that of a proxy. */
  readonly peerAddress: string
  /** Id of the request, in the answer, the log and the audit. */
  readonly requestId: string
  readonly method: string
  /** Path and query as they came. */
  readonly url: string
  /** Rows of a page, by setting. */
  readonly pageSize: number
}
