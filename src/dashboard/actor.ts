import type { Permissions } from '../model/permission.ts'

/** Who calls: a dashboard user, by session or by API credential. */
export interface Actor {
  /** Storage id; of a guest of single sign-on, who has no user document, a name that is no storage id. */
  readonly userId: string
  readonly email: string
  /** '' = unbounded: sees all organisations and writes nothing but its own record. */
  readonly orgId: string
  /** '' = in no group. */
  readonly groupId: string
  /** Those that are in force: of the group where there is one, else the user's own. */
  readonly permissions: Permissions
  readonly admin: boolean
  /** Session id of a browser; undefined for an API credential. */
  readonly sessionId: string | undefined
}
