import { categoriesOf, labelKeysOf, labelsOf, labelValuesOf } from '../apis/definition/api-metadata.ts'
import { searchTextsOf, storageIdIn, summaryOf } from '../apis/definition/fill-ids.ts'
import { documentOf, placeKeys, type StoredApi } from '../apis/definition/stored-api.ts'
import type { Asset } from '../assets/asset.ts'
import { certificateNames } from '../certificates/certificate-refs.ts'
import { isObject, type JsonObject, type Stored } from '../json/json.ts'
import type { Label } from '../labels/label.ts'
import type { NodeStatus } from '../nodes/node.ts'
import type { OAuthClient } from '../oauth-clients/oauth-client.ts'
import { clientKey, registrationKeys } from '../oauth-clients/oauth-registration.ts'
import { ownersOf } from '../people/ownership.ts'
import { administers, type User } from '../people/user.ts'
import type { UserGroup } from '../people/user-group.ts'
import { boundIdentity } from '../people/user-security.ts'
import { policyApisOf, policyAuthTypesOf, stateOf } from '../policies/policy-body.ts'
import { keyHashesOf, policyIdsOfDeveloper } from '../portal/developers/developer.ts'
import type { Policy } from '../sessions/session.ts'
import { foldCase } from '../text/fold.ts'
import type { Hook } from '../webhooks/hook.ts'
import type { TombstoneNoun } from './tombstone.ts'

/** How a kind of document can be found besides by its storage id. */
export interface KindIndexes {
  /** Index name to the value or values, each of which only one document may have; undefined = not indexed. */
  readonly unique: Readonly<Record<string, (body: JsonObject) => string | readonly string[] | undefined>>
  /** Index name to values for filtering and sorting; several values file it under each. */
  readonly lookup: Readonly<Record<string, (body: JsonObject) => string | readonly string[] | undefined>>
  /** Index name to the one value that lists are sorted by, and filtered too; without a value a document is filed under ''. */
  readonly sorted?: Readonly<Record<string, (body: JsonObject) => string | undefined>>
  /**
   * Of these sorted indexes each value of a look-up index, which has one at most, is kept apart as well: lists of one value are then
   * walked in order without a look at the others, however many documents there are.
   */
  readonly apart?: readonly { readonly by: string; readonly sorted: readonly string[] }[]
  /**
   * The permission that undoing a change needs, of a kind that is put back as it was. Kinds that are checked when they are put back are
   * in `publish/audit/undo-restore.ts`.
   */
  readonly undoneBy?: string
  /** Ids that no two organisations can have, where callers choose them: a deleted one stays with its organisation (`publish/documents/deleted-ids.ts`). */
  readonly sharedIds?: SharedIds
}

/** The ids of a kind that are those of the installation. */
export interface SharedIds {
  /** Of the notes about deleted ones. */
  readonly noun: TombstoneNoun
  /** True where callers choose the storage id. */
  readonly storage?: true
  /** The unique index of another id that they choose. */
  readonly index?: string
}

/** Characters of a text that are filed folded, and so found by a part. */
export const FOLDED_LENGTH = 256

/** The name under which entries of a sorted index are filed that is partitioned by another index. */
export function partitionedIndex(by: string, sorted: string): string {
  return `${by}/${sorted}`
}

/** How their values begin: no value of one begins as those of another. */
export function partitionPrefix(value: string): string {
  return `${value.length}:${value}/`
}

/** The index that parts of the values of an index are looked for in. */
export function foldedIndex(index: string): string {
  return `${index}_folded`
}

const text = (name: string) => (body: JsonObject) =>
  typeof body[name] === 'string' ? (body[name] as string) : undefined

const lower = (name: string) => (body: JsonObject) => text(name)(body)?.toLowerCase()

const texts = (name: string) => (body: JsonObject) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : undefined
}

const fold = (value: string) => foldCase(value).slice(0, FOLDED_LENGTH)

const folded = (name: string) => (body: JsonObject) =>
  typeof body[name] === 'string' ? fold(body[name] as string) : undefined

/** A date in a form that sorts by time, from any offset. */
const date = (name: string) => (body: JsonObject) => {
  const value = body[name]
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** Of an API, in the words of lists. */
const searchTexts = (body: JsonObject) => {
  const document = documentOf(body)
  return searchTextsOf(document, storageIdIn(document)).map(fold)
}

/** Host and path of an API as lists show them. */
const shownPlace = (body: JsonObject) => {
  const { domain, listenPath } = summaryOf(documentOf(body))
  return fold(`${domain}${listenPath}`)
}

/** The organisation whose home page it is: it has one. */
const homepageOf = ({ is_homepage: is, org_id }: JsonObject) => (is === true ? String(org_id ?? '') : undefined)

/** `true` or `false`; absent is false. */
const flag = (name: string) => (body: JsonObject) => String(body[name] === true)

const placed = (body: JsonObject) => (typeof body.place === 'string' ? placeKeys(body.place) : undefined)

/** Every kind of document and its indexes; all adapters maintain them. */
export const DOCUMENT_KINDS: Readonly<Record<string, KindIndexes>> = {
  /** Body: `StoredApi` of model/apis/definition/stored-api.ts. */
  api: {
    sharedIds: { noun: 'api_id', storage: true, index: 'api_id' },
    unique: { api_id: text('api_id') },
    lookup: {
      org_id: text('org_id'),
      place: text('place'),
      /** Custom domain, for APIs that have one. */
      place_domain: (body) => placed(body)?.domain || undefined,
      /** `PlaceKeys.head`, for APIs that answer on hosts which no organisation owns. */
      place_head: (body) => (placed(body)?.domain === '' ? placed(body)?.head : undefined),
      version_ids: texts('version_ids'),
      /** `version` for an API that is a version of another, else `base`. */
      standing: (body) => ((texts('base_ids')(body) ?? []).length > 0 ? 'version' : 'base'),
      owner: ownersOf,
      certificate: certificateNames,
      active: flag('active'),
      api_type: text('api_type'),
      auth_type: texts('auth_types'),
      category: categoriesOf,
      /** As in classic names, so that both formats are found alike. */
      category_folded: (body) => categoriesOf(body).map((category) => fold(`#${category}`)),
      label: labelsOf,
      label_key: labelKeysOf,
      label_folded: (body) => labelValuesOf(body).map(fold),
      /** Each text of an API that lists show, so that all are found by a part. */
      search_folded: searchTexts,
    },
    sorted: {
      name: text('name'),
      name_folded: folded('name'),
      place_folded: shownPlace,
      active_order: flag('active'),
      auth_order: (body) => texts('auth_types')(body)?.join(' '),
      created_at: date('created_at'),
      updated_at: date('updated_at'),
    },
  },
  /** Body: `Policy`. `id` is what keys refer to, within an organisation: two organisations may use one id. */
  policy: {
    sharedIds: { noun: 'policy_id', storage: true },
    unique: { org_policy: (body) => `${body.org_id ?? ''}/${body.id ?? ''}` },
    lookup: {
      org_id: text('org_id'),
      id: text('id'),
      id_folded: folded('id'),
      state: stateOf,
      api_id: policyApisOf,
      auth_type: policyAuthTypesOf,
    },
    sorted: {
      name: text('name'),
      name_folded: folded('name'),
      state_order: stateOf,
      date_created: date('date_created'),
    },
  },
  /** Body: `Session` used as the limits of a whole organisation. */
  org_session: { unique: { org_id: text('org_id') }, lookup: {} },
  /** Body: `StoredCertificate` of publish/certificates/certificates.ts. */
  certificate: {
    undoneBy: 'certs',
    unique: { cert_id: text('cert_id') },
    lookup: { org_id: text('org_id'), subject_folded: folded('subject') },
    sorted: { not_after: date('not_after'), date_created: date('date_created') },
  },
  /** Body: `OAuthClient` of model/oauth-clients/oauth-client.ts. */
  oauth_client: {
    sharedIds: { noun: 'client_id', index: 'client_id' },
    unique: {
      /** Programs before registrations were distinguished find the first one of an id. */
      client_id: (body) => clientKey(body as unknown as OAuthClient),
      registered: (body) => registrationKeys(body as unknown as OAuthClient),
    },
    lookup: {
      /** Every registration of a client id. */
      client: text('client_id'),
      org_id: text('org_id'),
      api_ids: texts('api_ids'),
      policies: texts('policies'),
      registered_by_policy: text('registered_by_policy'),
      search_folded: (body) =>
        [text('client_id')(body), text('client_name')(body), ...(texts('redirect_uris')(body) ?? [])]
          .filter((value) => value !== undefined)
          .map(fold),
    },
  },
  /** A webhook. Its name is how callers find it again. */
  hook: {
    sharedIds: { noun: 'hook', storage: true },
    undoneBy: 'hooks',
    unique: {},
    lookup: { org_id: text('org_id') },
    sorted: { name: text('name'), name_folded: folded('name') },
  },
  /** Body: `Asset` of model/assets/asset.ts. `id` is unique in an organisation. */
  asset: {
    sharedIds: { noun: 'asset_id', storage: true },
    unique: { org_asset: (body) => `${body.org_id ?? ''}/${body.id ?? ''}` },
    lookup: { org_id: text('org_id'), id: text('id'), kind: text('kind') },
    sorted: { name_folded: folded('name') },
  },
  /** The definition of a label: `key` and `name` are unique in an organisation. */
  label: {
    unique: {
      org_key: (body) => `${body.org_id ?? ''}/${body.key ?? ''}`,
      org_name: (body) => `${body.org_id ?? ''}/${foldCase(String(body.name ?? ''))}`,
    },
    lookup: { org_id: text('org_id') },
    sorted: { name_folded: folded('name') },
  },
  /** An identity profile of single sign-on: its sign-in addresses name it by `ID` alone. */
  idp_profile: {
    sharedIds: { noun: 'profile_id', index: 'id' },
    unique: { id: text('ID') },
    lookup: { org_id: text('OrgID') },
    sorted: { name_folded: folded('Name') },
  },
  /** Body: `StoredRing` of oauth/signing-keys/key-ring.ts: the signing keys of an organisation for one algorithm, private parts sealed. */
  oauth_key: { unique: {}, lookup: { org_id: text('org_id') } },
  /** Body: `User` of model/people/user.ts. One of an email address in each organisation. */
  user: {
    unique: {
      org_email: (body) => `${body.org_id ?? ''}/${body.email_address ?? ''}`,
      access_hmac: (body) => (body.access_hmac === '' ? undefined : text('access_hmac')(body)),
      access_hmac_before: ({ access_before: before }) => (isObject(before) ? text('hmac')(before) : undefined),
      sso_identity: (body) => boundIdentity(body) || undefined,
    },
    lookup: {
      org_id: text('org_id'),
      email: text('email_address'),
      email_folded: folded('email_address'),
      group_id: (body) => (body.group_id === '' ? undefined : text('group_id')(body)),
      /** Organisation that the user administers. */
      admin_of: (body) =>
        isObject(body.user_permissions) && administers(body as unknown as User) ? text('org_id')(body) : undefined,
    },
  },
  /** Body: `UserGroup` of model/people/user-group.ts. */
  user_group: { unique: {}, lookup: { org_id: text('org_id'), name: text('name') } },
  /** Body: `Tombstone` of model/documents/tombstone.ts. */
  tombstone: { unique: {}, lookup: { org_id: text('org_id') } },
  /** Body: `InstallationBody` of publish/organisations/installation.ts; one document. */
  installation: { unique: {}, lookup: {} },
  /** Body: `GatewayCommand` of model/nodes/node.ts; filed under a hash of its words. */
  order: { unique: {}, lookup: {} },
  /** Body: `NodeStatus` of model/nodes/node.ts; filed under a hash of the node's name. */
  node: { unique: {}, lookup: {}, sorted: { name: text('name') } },
  /** Addresses of gateways, as the settings of a dashboard name them (publish/nodes/addresses.ts); one document. */
  addresses: { unique: {}, lookup: {} },
  organisation: {
    unique: {},
    lookup: {
      name: text('owner_name'),
      /** Host of the portal, which tells the organisation of its visitors. */
      cname: (body) => (body.cname === '' ? undefined : folded('cname')(body)),
    },
  },
  /** Body: `Developer` of model/portal/developers/developer.ts. An email address is unique in an organisation, in any letter case. */
  developer: {
    unique: { org_email: (body) => `${body.org_id ?? ''}/${foldCase(String(body.email ?? ''))}` },
    lookup: {
      org_id: text('org_id'),
      sso_key: (body) => (body.sso_key === '' ? undefined : lower('sso_key')(body)),
      /** Of a sign-in that is on its way. */
      nonce: (body) => (body.nonce === '' ? undefined : text('nonce')(body)),
      /** Hashes of the developer's keys. */
      key: keyHashesOf,
      /** Policies that the developer has subscribed to, by key or OAuth app, behind the organisation whose they are. */
      org_policy: (body) => policyIdsOfDeveloper(body).map((id) => `${body.org_id ?? ''}/${id}`),
    },
    sorted: { email_folded: folded('email'), date_created: date('date_created') },
    apart: [{ by: 'org_id', sorted: ['email_folded', 'date_created'] }],
  },
  /** When a developer's key is to be forgotten; filed under the first 24 digits of its hash. */
  key_end: { unique: {}, lookup: { developer_id: text('developer_id') }, sorted: { at: date('at') } },
  /** Body: `KeyRequest` of model/portal/key-requests/key-request.ts. A developer has at most one waiting for the same policies. */
  key_request: {
    unique: {
      waiting: (body) =>
        body.approved === true
          ? undefined
          : `${body.by_user ?? ''}/${[...(texts('apply_policies')(body) ?? [])].sort().join(',')}`,
    },
    lookup: {
      org_id: text('org_id'),
      by_user: text('by_user'),
      approved: flag('approved'),
      /** Both in one, so that those that wait are found among many that do not. */
      org_approved: (body) => `${body.org_id ?? ''}/${flag('approved')(body)}`,
      policy: texts('apply_policies'),
    },
    sorted: { date_created: date('date_created') },
    apart: [
      { by: 'org_id', sorted: ['date_created'] },
      { by: 'org_approved', sorted: ['date_created'] },
    ],
  },
  /** Body: `PortalConfiguration` of model/portal/settings/portal-configuration.ts; one in an organisation, as the next three. */
  portal_configuration: { unique: { org_id: text('org_id') }, lookup: {}, undoneBy: 'portal' },
  // Undoing it needs an administrator: some of its entries may be other people's to write.
  catalogue: { unique: { org_id: text('org_id') }, lookup: {}, undoneBy: 'admin' },
  portal_menu: { unique: { org_id: text('org_id') }, lookup: {}, undoneBy: 'portal' },
  /** Style sheets and script of the portal's pages. */
  portal_look: { unique: { org_id: text('org_id') }, lookup: {}, undoneBy: 'portal' },
  /** Documentation of an API, as an entry of the catalogue names it. */
  portal_documentation: { unique: {}, lookup: { org_id: text('org_id'), api_id: text('api_id') }, undoneBy: 'portal' },
  /** The text of a documentation, under the same id: lists need not read it. */
  portal_documentation_text: { unique: {}, lookup: {}, undoneBy: 'portal' },
  portal_page: {
    undoneBy: 'portal',
    unique: {
      /** With and without slashes at its ends it is one place. */
      org_slug: (body) => `${body.org_id ?? ''}/${String(body.slug ?? '').replace(/^\/|\/$/g, '')}`,
      homepage_of: homepageOf,
    },
    lookup: { org_id: text('org_id') },
    sorted: { title_folded: folded('title') },
  },
}

/** Kinds that are put back as they were when a change is undone, each with the permission that it needs. */
export const PLAIN_KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries(DOCUMENT_KINDS).flatMap(([kind, { undoneBy }]) => (undoneBy === undefined ? [] : [[kind, undoneBy]])),
)

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
