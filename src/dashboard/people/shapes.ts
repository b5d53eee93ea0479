import { Type } from 'typebox'
import { described } from '../routes/described.ts'
import { OkStatus, OutcomeText, PageCount } from '../routes/envelope.ts'
import { emailAddress, moment, storageId } from '../routes/text-forms.ts'

const text = Type.String()
const NEVER = '0001-01-01T00:00:00Z = never'

/** Members that callers keep there; nothing here reads them. */
const Kept = Type.Object({}, { additionalProperties: true })

/** Rights as callers see them. */
export const PermissionsShape = Type.Record(Type.String(), Type.String())

/** A dashboard user as callers see it. */
export const UserShape = Type.Object(
  {
    id: storageId('Id of the user: 24 hexadecimal digits.'),
    org_id: Type.String({ description: 'Id of the organisation. Blank for a user of none, who sees all.' }),
    first_name: Type.String({ description: 'First name.' }),
    last_name: Type.String({ description: 'Last name.' }),
    email_address: emailAddress('Email address, by which the user signs in.'),
    active: Type.Boolean({ description: 'False: the user cannot sign in, and the API credential is refused.' }),
    access_key: Type.String({ description: 'API credential. Blank where the caller may not see it.' }),
    group_id: Type.String({ description: 'Id of the user group. Blank: none.' }),
    group_name: Type.String({ description: 'Name of the user group.' }),
    user_permissions: described(
      PermissionsShape,
      'Permissions by name: `read`, `write` or `deny`; `admin` for `IsAdmin` and `ResetPassword`; `owned` or `all` for `owned_analytics`. Those of the group replace them.',
    ),
    password_max_days: Type.Integer({ description: 'Days after which the password must be changed. 0: never.' }),
    password_updated: moment(`Time at which the password was set (RFC 3339); ${NEVER}.`),
    PWHistory: Type.Array(Type.Never(), { description: 'Always empty; kept for clients of the incumbent.' }),
    created_at: moment(`Time of creation (RFC 3339); ${NEVER}.`),
    last_login_date: moment(`Time of the last sign-in (RFC 3339); ${NEVER}.`),
    api_model: Type.Object({}, { description: 'Always an empty object; kept for clients of the incumbent.' }),
  },
  { title: 'User', description: 'A user of the dashboard.' },
)

/** Who calls; a guest of single sign-on has no storage id. */
export const SelfShape = Type.Object(
  {
    ...UserShape.properties,
    id: Type.String({ description: 'Id of the user. A guest of single sign-on has one for the session alone.' }),
  },
  { title: 'CurrentUser', description: 'The calling user.' },
)

/** A group of users as callers see it. */
export const GroupShape = Type.Object(
  {
    id: storageId('Id of the user group: 24 hexadecimal digits.'),
    org_id: Type.String({ description: 'Id of the organisation.' }),
    name: Type.String({ description: 'Name of the group.' }),
    description: Type.String({ description: 'Text for people.' }),
    active: Type.Boolean({ description: 'False: members of the group cannot sign in.' }),
    user_permissions: described(
      PermissionsShape,
      'Permissions by name: `read`, `write` or `deny`; `admin` for `IsAdmin` and `ResetPassword`; `owned` or `all` for `owned_analytics`. They replace the own ones of members.',
    ),
    password_max_days: Type.Integer({
      description: 'Days after which passwords of members must be changed. 0: never.',
    }),
  },
  { title: 'UserGroup' },
)

/** An organisation as callers see it. */
export const OrganisationShape = Type.Object(
  {
    id: storageId('Id of the organisation: 24 hexadecimal digits.'),
    owner_name: Type.String({ description: 'Name of the organisation.' }),
    owner_slug: Type.String({ description: 'Name of the organisation in URLs.' }),
    cname: Type.String({ description: 'Host of the developer portal. Blank: none.' }),
    cname_enabled: Type.Boolean({ description: 'True where the portal is reached by `cname`.' }),
    apis: Type.Array(Type.Unknown(), { description: 'Kept for clients of the incumbent; nothing reads it.' }),
    developer_quota: Type.Number({ description: 'Most developers of the organisation. 0: any number.' }),
    developer_count: Type.Number({ description: 'Kept for clients of the incumbent; nothing reads it.' }),
    hybrid_enabled: Type.Boolean({ description: 'Kept for clients of the incumbent; nothing reads it.' }),
    sso_enabled: Type.Boolean({ description: 'True: users and developers may sign in by single sign-on.' }),
    event_options: described(Kept, 'What is notified of events of keys and APIs, by event.'),
    org_options_meta: described(Kept, 'Free members.'),
    ui: described(Kept, 'Free members of consoles.'),
    additional_permissions: Type.Optional(
      described(PermissionsShape, 'Custom permissions by key, each with its label. Absent: those of the settings.'),
    ),
  },
  { title: 'Organisation', additionalProperties: true },
)

const Done = { Status: OkStatus, Message: OutcomeText }

/** A success that tells no more. */
export const DoneShape = Type.Object({ ...Done, Meta: Type.Null() }, { title: 'Done' })

/** The end of a user or group: administrators get the APIs that have lost their last owner. */
export const DeletedOwnerShape = Type.Object(
  {
    ...Done,
    Meta: Type.Union(
      [
        Type.Null(),
        Type.Object({
          ownerless: Type.Array(text, { description: 'Ids of APIs without an owner, which administrators alone see.' }),
        }),
      ],
      { description: 'Null, unless the deletion left APIs without an owner.' },
    ),
  },
  { title: 'OwnerDeleted' },
)

/** A success that names what it made. */
export const CreatedShape = Type.Object(
  { ...Done, Meta: Type.String({ description: 'Id of what was created.' }) },
  { title: 'CreatedWithId' },
)

/** A success that shows the user. */
export const UserDoneShape = Type.Object({ ...Done, Meta: UserShape }, { title: 'UserDone' })

/** A page of something. */
export function pageShape(name: string, row: Parameters<typeof Type.Array>[0], title: string) {
  return Type.Object(
    { [name]: Type.Array(row, { description: `The ${name} of the page.` }), pages: PageCount },
    { title },
  )
}

const orNull = <T extends Parameters<typeof Type.Optional>[0]>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** Rights as they come over the wire: what is no right is passed over. */
const GivenPermissions = orNull(Type.Record(Type.String(), Type.Unknown()))

const givenUser = {
  first_name: orNull(Type.String({ description: 'First name.' })),
  last_name: orNull(Type.String({ description: 'Last name.' })),
  active: orNull(Type.Boolean({ description: 'False: the user cannot sign in, and the API credential is refused.' })),
  user_permissions: described(
    GivenPermissions,
    'Permissions by name: `read`, `write` or `deny`; `admin` for `IsAdmin` and `ResetPassword`; `owned` or `all` for `owned_analytics`. An empty object makes an administrator.',
  ),
  group_id: orNull(Type.String({ description: 'Id of the user group. Blank: none.' })),
  password_max_days: orNull(
    Type.Integer({
      minimum: 0,
      maximum: 36_500,
      description: 'Days after which the password must be changed. 0: never.',
    }),
  ),
}

/** A new user as it is sent. */
export const NewUserBody = Type.Object(
  {
    ...givenUser,
    email_address: emailAddress('Email address, by which the user signs in. Unique in the organisation.'),
    password: orNull(
      Type.String({ description: 'Password. Absent: the user sets one by the link of a mail, or signs in elsewhere.' }),
    ),
  },
  { title: 'UserInput' },
)

/** The body of a change of a user: omitted members stay. */
export const UserEditBody = Type.Object(
  {
    ...givenUser,
    email_address: orNull(emailAddress('Email address, by which the user signs in. Unique in the organisation.')),
  },
  { title: 'UserEdit' },
)

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
  {
    ...UserEditBody.properties,
    password: orNull(Type.String({ description: 'New password. Absent: it stays.' })),
    org_id: orNull(Type.String({ description: 'As it is: users do not move between organisations.' })),
  },
  { title: 'AdminUserEdit' },
)

/** A group as it is sent. */
export const GroupBody = Type.Object(
  {
    name: orNull(Type.String({ description: 'Name of the group.' })),
    description: orNull(Type.String({ description: 'Text for people.' })),
    active: orNull(Type.Boolean({ description: 'False: members of the group cannot sign in.' })),
    user_permissions: described(
      GivenPermissions,
      'Permissions by name: `read`, `write` or `deny`; `admin` for `IsAdmin` and `ResetPassword`; `owned` or `all` for `owned_analytics`. They replace the own ones of members.',
    ),
    password_max_days: orNull(
      Type.Integer({
        minimum: 0,
        maximum: 36_500,
        description: 'Days after which passwords of members must be changed. 0: never.',
      }),
    ),
  },
  { title: 'UserGroupInput' },
)
