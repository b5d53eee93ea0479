import type { JsonObject } from '../../../model/json/json.ts'
import type { Change, Revision, StoredDocument } from '../../../store/ports/ports.ts'

/** The details of a developer's app, apart from its redirect URIs. */
export interface AppDraft {
  readonly redirect_uri: string
  /** All of them, where there are several. */
  readonly redirect_uris?: readonly string[]
  readonly app_description?: string
  readonly use_case?: string
  readonly client_name?: string
}

/** A key or an OAuth client that was made for a developer. `revision` is 0 before it is stored. */
export type IssuedAccess =
  | {
      readonly kind: 'key'
      readonly rawKey: string
      readonly keyHash: string
      readonly leftOut: readonly string[]
      readonly revision: Revision
    }
  | {
      readonly kind: 'oauth'
      readonly clientId: string
      readonly secret: string
      readonly policyId: string
      readonly redirectUri: string
      readonly revision: Revision
    }

/** Access that a developer is to get. */
export interface AccessDraft {
  readonly developer: StoredDocument
  /** By either of their ids; all for keys, or all for OAuth clients. */
  readonly policies: readonly string[]
  /** The developer's answers in the request: they go into the metadata of the key; of an app, what it is for. */
  readonly fields?: Readonly<Record<string, string>>
  /** Without a redirect URI, policies that give either make a key. */
  readonly oauth?: AppDraft
  /** Unix seconds at which a key expires at the latest; else as its policies say. */
  readonly expires?: number
  /** Of the request that it comes from; for the audit. */
  readonly version?: string
  readonly actor: string
  readonly action: string
  /** Further changes for the same transaction, which writes the developer as `developerBody`. */
  readonly alongside?: (issued: IssuedAccess, developerBody: JsonObject) => readonly Change[]
}
