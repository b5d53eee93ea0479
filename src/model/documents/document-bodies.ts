import type { StoredApi } from '../apis/definition/stored-api.ts'
import type { Asset } from '../assets/asset.ts'
import type { JsonObject, Stored } from '../json/json.ts'
import type { Label } from '../labels/label.ts'
import type { NodeStatus } from '../nodes/node.ts'
import type { OAuthClient } from '../oauth-clients/oauth-client.ts'
import type { User } from '../people/user.ts'
import type { UserGroup } from '../people/user-group.ts'
import type { Policy } from '../sessions/session.ts'
import type { Hook } from '../webhooks/hook.ts'

/** The body types of documents; of kinds that are not named, any JSON that their rules allow. */
export interface DocumentBodies {
  api: StoredApi
  asset: Asset
  hook: Hook
  label: Label
  node: NodeStatus
  oauth_client: OAuthClient
  policy: Policy
  user: User
  user_group: UserGroup
}

/** The type of the body of a document of kind `K`. */
export type NewBodyOf<K extends string> = JsonObject | (K extends keyof DocumentBodies ? DocumentBodies[K] : never)

/** The body of a document of kind `K`, as the store gives it. */
export type BodyOf<K extends string> = K extends keyof DocumentBodies ? Stored<DocumentBodies[K]> : JsonObject
