import { Type } from 'typebox'

const text = Type.String()
const Dated = Type.String({ description: 'RFC 3339; 0001-01-01T00:00:00Z = never' })

/** Members that callers keep there; nothing here reads them. */
const Kept = Type.Object({}, { additionalProperties: true })

/** Rights as callers see them. */
export const PermissionsShape = Type.Record(Type.String(), Type.String())

/** A dashboard user as callers see it. */
export const UserShape = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    org_id: text,
    first_name: text,
    last_name: text,
    email_address: text,
    active: Type.Boolean(),
    access_key: Type.String({ description: 'Empty where the caller may not see it' }),
    group_id: text,
    group_name: text,
    user_permissions: PermissionsShape,
    password_max_days: Type.Integer(),
    password_updated: Dated,
    PWHistory: Type.Array(Type.Never()),
    created_at: Dated,
    last_login_date: Dated,
    api_model: Type.Object({}),
  },
  { title: 'User' },
)

/** Who calls; a guest of single sign-on has no storage id. */
export const SelfShape = Type.Object({ ...UserShape.properties, id: text }, { title: 'CurrentUser' })

/** A group of users as callers see it. */
export const GroupShape = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    org_id: text,
    name: text,
    description: text,
    active: Type.Boolean(),
    user_permissions: PermissionsShape,
    password_max_days: Type.Integer(),
  },
  { title: 'UserGroup' },
)

/** An organisation as callers see it. */
export const OrganisationShape = Type.Object(
  {
    id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
    owner_name: text,
    owner_slug: text,
    cname: text,
    cname_enabled: Type.Boolean(),
    apis: Type.Array(Type.Unknown()),
    developer_quota: Type.Number(),
    developer_count: Type.Number(),
    hybrid_enabled: Type.Boolean(),
    sso_enabled: Type.Boolean(),
    event_options: Kept,
    org_options_meta: Kept,
    ui: Kept,
    additional_permissions: Type.Optional(PermissionsShape),
  },
  { title: 'Organisation', additionalProperties: true },
)

const Done = { Status: Type.Literal('OK'), Message: text }

/** A success that tells no more. */
export const DoneShape = Type.Object({ ...Done, Meta: Type.Null() }, { title: 'Done' })

/** The end of a user or group: administrators get the APIs that have lost their last owner. */
export const DeletedOwnerShape = Type.Object(
  {
    ...Done,
    Meta: Type.Union([
      Type.Null(),
      Type.Object({
        ownerless: Type.Array(text, { description: 'Ids of APIs without an owner, which administrators alone see.' }),
      }),
    ]),
  },
  { title: 'OwnerDeleted' },
)

/** A success that names what it made. */
export const CreatedShape = Type.Object({ ...Done, Meta: text }, { title: 'CreatedWithId' })

/** A success that shows the user. */
export const UserDoneShape = Type.Object({ ...Done, Meta: UserShape }, { title: 'UserDone' })

/** A page of something. */
export function pageShape(name: string, row: Parameters<typeof Type.Array>[0], title: string) {
  return Type.Object({ [name]: Type.Array(row), pages: Type.Integer() }, { title })
}

const orNull = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** Rights as they come over the wire: what is no right is passed over. */
const GivenPermissions = orNull(Type.Record(Type.String(), Type.Unknown()))

const givenUser = {
  first_name: orNull(text),
  last_name: orNull(text),
  active: orNull(Type.Boolean()),
  user_permissions: GivenPermissions,
  group_id: orNull(text),
  password_max_days: orNull(Type.Integer({ minimum: 0, maximum: 36_500 })),
}

/** A new user as it is sent. */
export const NewUserBody = Type.Object(
  { ...givenUser, email_address: text, password: orNull(text) },
  { title: 'UserInput' },
)

/** The body of a change of a user: omitted members stay. */
export const UserEditBody = Type.Object({ ...givenUser, email_address: orNull(text) }, { title: 'UserEdit' })

/** The same for operators, who name the organisation. */
export const AdminUserBody = Type.Object(
  {
    ...NewUserBody.properties,
    org_id: orNull(Type.String({ description: 'Empty = of none: the user sees all organisations.' })),
  },
  { title: 'AdminUserInput' },
)

/** The same for operators, who set passwords as well. */
export const AdminUserEditBody = Type.Object(
  { ...UserEditBody.properties, password: orNull(text) },
  { title: 'AdminUserEdit' },
)

/** A group as it is sent. */
export const GroupBody = Type.Object(
  {
    name: orNull(text),
    description: orNull(text),
    active: orNull(Type.Boolean()),
    user_permissions: GivenPermissions,
    password_max_days: orNull(Type.Integer({ minimum: 0, maximum: 36_500 })),
  },
  { title: 'UserGroupInput' },
)
