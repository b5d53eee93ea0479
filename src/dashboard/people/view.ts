import { isDocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { covers, KNOWN_PERMISSIONS, type Permissions } from '../../model/people/permission.ts'
import { type StoredUser, userShape } from '../../model/people/user.ts'
import { groupOf, groupShape, NOTHING, type StoredGroup } from '../../model/people/user-group.ts'
import { findOrganisation } from '../../publish/organisations/organisations.ts'
import { accessKeyOf } from '../../publish/people/credential.ts'
import { effectiveWithGroup } from '../../publish/people/effective.ts'
import { type Actor, isUnbounded } from '../access/actor.ts'
import type { DashboardParts } from '../server/parts.ts'

/** The custom permissions of an organisation: its own, else those of the settings. */
export async function additionalPermissions(
  parts: DashboardParts,
  orgId: string,
): Promise<Readonly<Record<string, string>>> {
  const own = (await findOrganisation(parts, orgId))?.body.additional_permissions
  return (own ?? parts.config.dashboard.security.additional_permissions) as Readonly<Record<string, string>>
}

/** The names that users of an organisation may have permissions by, besides those of every installation. `stored`: those they have already. */
export async function customPermissions(
  parts: DashboardParts,
  orgId: string,
  stored: Permissions = {},
): Promise<ReadonlySet<string>> {
  return new Set([...Object.keys(await additionalPermissions(parts, orgId)), ...Object.keys(stored)])
}

/**
 * One caller's view of users and groups. Reads each group and organisation once. `viewer` undefined = the installation itself,
 * which sees every credential.
 */
export class PeopleView {
  readonly #parts: DashboardParts
  readonly #viewer: Actor | undefined
  readonly #groups = new Map<string, Promise<StoredGroup | undefined>>()
  readonly #names = new Map<string, Promise<Readonly<Record<string, string>>>>()

  constructor(parts: DashboardParts, viewer: Actor | undefined) {
    this.#parts = parts
    this.#viewer = viewer
  }

  /** A user as the caller sees it. */
  async user(user: StoredUser): Promise<JsonObject> {
    const group = await this.#groupOf(user.group_id)
    return userShape(user, {
      accessKey: this.#sees(user, group) ? accessKeyOf(this.#parts, user) : '',
      groupName: group !== undefined && group.org_id === user.org_id ? group.name : '',
      permissions: await this.#shown(user.org_id, user.user_permissions),
    })
  }

  /** A group as the caller sees it. */
  async group(group: StoredGroup): Promise<JsonObject> {
    return groupShape(group, await this.#shown(group.org_id, group.user_permissions))
  }

  /**
   * The credential of a user is visible to the user, except in a session with a guarantor, which it would outlast, and to administrators of
   * the organisation whose permissions cover the user's.
   */
  #sees(user: StoredUser, group: StoredGroup | undefined): boolean {
    const viewer = this.#viewer
    if (viewer === undefined) return true
    if (viewer.guarantor) return false
    if (viewer.userId === user.id) return true
    if (this.#parts.config.dashboard.security.forbid_admin_view_access_token) return false
    if (!viewer.admin || isUnbounded(viewer) || viewer.orgId !== user.org_id) return false
    return covers(viewer.permissions, effectiveWithGroup(user, group).permissions)
  }

  /** Rights without custom ones that were taken away since. What is left of some is never an empty object, which means everything. */
  async #shown(orgId: string, permissions: Permissions): Promise<Permissions> {
    const strange = Object.keys(permissions).filter((name) => !KNOWN_PERMISSIONS.has(name))
    if (strange.length === 0) return permissions
    const custom = await this.#custom(orgId)
    const kept = Object.entries(permissions).filter(
      ([name]) => KNOWN_PERMISSIONS.has(name) || Object.hasOwn(custom, name),
    )
    return kept.length === 0 ? NOTHING : Object.fromEntries(kept)
  }

  #custom(orgId: string): Promise<Readonly<Record<string, string>>> {
    const known = this.#names.get(orgId) ?? additionalPermissions(this.#parts, orgId)
    this.#names.set(orgId, known)
    return known
  }

  #groupOf(groupId: string): Promise<StoredGroup | undefined> {
    if (!isDocumentId(groupId)) return Promise.resolve(undefined)
    const known = this.#groups.get(groupId) ?? this.#readGroup(groupId)
    this.#groups.set(groupId, known)
    return known
  }

  async #readGroup(groupId: string): Promise<StoredGroup | undefined> {
    const found = isDocumentId(groupId) ? await this.#parts.documents.get('user_group', groupId) : undefined
    return found && groupOf(found)
  }
}
