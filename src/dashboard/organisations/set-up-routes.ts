import { Type } from 'typebox'
import { readInstallation } from '../../publish/organisations/installation.ts'
import { setUp } from '../../publish/organisations/set-up.ts'
import { UserShape } from '../people/shapes.ts'
import { PeopleView } from '../people/view.ts'
import { bare, ok } from '../routes/answer.ts'
import { OkStatus, OutcomeText } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import { emailAddress } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const Body = Type.Object(
  {
    token: Type.String({ maxLength: 1024, description: 'Token of the set-up link.' }),
    organisation: Type.String({ maxLength: 1024, description: 'Name of the first organisation.' }),
    email: emailAddress('Email address of the first administrator.', { maxLength: 1024 }),
    password: Type.String({ maxLength: 1024, description: 'Password of the first administrator.' }),
    first_name: Type.Optional(Type.String({ maxLength: 1024, description: 'First name of the administrator.' })),
    last_name: Type.Optional(Type.String({ maxLength: 1024, description: 'Last name of the administrator.' })),
  },
  { title: 'SetUp' },
)

/** The first start: who holds the set-up link makes the first organisation and its first administrator. */
export function setUpRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/bootstrap',
      access: 'public',
      summary: 'Check whether the set-up link is open',
      answers: { 200: Type.Object({ open: Type.Boolean({ description: 'True while the set-up link can be used.' }) }) },
      run: async () => bare({ open: ((await readInstallation(parts))?.setup_hash ?? '') !== '' }),
    },
    {
      method: 'POST',
      path: '/api/bootstrap',
      access: 'public',
      summary: 'Create the first organisation and administrator, once, with the token of the set-up link',
      refusals: [401, 403],
      body: Body,
      answers: {
        200: Type.Object({
          Status: OkStatus,
          Message: OutcomeText,
          Meta: Type.Object(
            { org_id: Type.String({ description: 'Id of the new organisation.' }), user: UserShape },
            { description: 'The new organisation and its administrator.' },
          ),
        }),
      },
      async run(call) {
        const sent = call.object() as Record<string, string>
        const { user } = await setUp(parts, sent.token!, {
          organisation: sent.organisation!,
          email: sent.email!,
          password: sent.password!,
          firstName: sent.first_name ?? '',
          lastName: sent.last_name ?? '',
        })
        const shown = await new PeopleView(parts, undefined).user(user)
        return ok('Organisation and first user have been created', { org_id: user.org_id, user: shown })
      },
    },
  ]
}
