import type { Permissions } from '../../model/people/permission.ts'

/** Who is written into the audit for calls with the admin secret. */
export const INSTALLATION = 'admin'

/** Who calls: a dashboard user, by session or by API credential. */
export interface Actor {
  /** Storage id; of a guest of single sign-on, who has no user document, a name that is no storage id. */
  readonly userId: string
  readonly email: string
  /** '' = unbounded: sees all organisations and writes nothing but its own record. */
  readonly orgId: string
  /** True where the actor is unbounded all the same, and looks at `orgId` alone: it still writes nothing there. */
  readonly viewing?: true
  /** '' = in no group. */
  readonly groupId: string
  /** Those that are in force: of the group where there is one, else the user's own. */
  readonly permissions: Permissions
  readonly admin: boolean
  /**
   * The user without administrator rights on whose word alone it is this actor: who answers for whom the actor lets in, too. No credential
   * that outlasts the session is shown or given.
   */
  readonly guarantor?: Pick<Actor, 'userId' | 'groupId'>
  /** Session id of a browser; undefined for an API credential. */
  readonly sessionId: string | undefined
}

/** True for a user of no organisation, also while it looks at one: it sees all of them and writes nothing but its own record. */
export function isUnbounded({ orgId, viewing }: Pick<Actor, 'orgId' | 'viewing'>): boolean {
  return orgId === '' || viewing === true
}
