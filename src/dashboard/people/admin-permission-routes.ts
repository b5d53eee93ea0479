import { Type } from 'typebox'
import type { StoredOrganisation } from '../../model/organisations/organisation.ts'
import { findOrganisation, setAdditionalPermissions } from '../../publish/organisations/organisations.ts'
import { INSTALLATION } from '../access/actor.ts'
import { type Answer, bare, ok, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { CreatedShape, DoneShape, PermissionsShape } from './shapes.ts'
import { additionalPermissions } from './view.ts'

const PATH = '/admin/organisations/{id}/permissions'
const NO_ORGANISATION = 'Could not retrieve org detail'
const UNKNOWN = 'Could not retrieve permission'
const One = Type.Object(
  {
    key: Type.String({ description: 'Key of the permission.' }),
    label: Type.String({ description: 'Label of the permission, for people.' }),
  },
  { title: 'CustomPermission' },
)

/** Custom permissions of an organisation, one by one: `/admin/organisations/{id}/permissions`. */
export function adminPermissionRoutes(parts: DashboardParts): Route[] {
  const save = (organisation: StoredOrganisation, names: Readonly<Record<string, string>>) =>
    setAdditionalPermissions(parts, organisation, names, INSTALLATION)
  const withNames =
    (run: (call: Call, organisation: StoredOrganisation, names: Readonly<Record<string, string>>) => Promise<Answer>) =>
    async (call: Call): Promise<Answer> => {
      const organisation = await findOrganisation(parts, call.param('id'))
      if (organisation === undefined) return refused(404, NO_ORGANISATION)
      return run(call, organisation, await additionalPermissions(parts, organisation.id))
    }
  const ofOne = (run: Parameters<typeof withNames>[0]) =>
    withNames(async (call, organisation, names) => {
      const there = Object.hasOwn(names, call.param('permission'))
      return there ? run(call, organisation, names) : refused(404, UNKNOWN)
    })
  return [
    {
      method: 'GET',
      path: PATH,
      access: 'installation',
      summary: 'List the custom permissions of an organisation',
      answers: {
        200: Type.Object(
          { additional_permissions: described(PermissionsShape, 'Custom permissions by key, each with its label.') },
          { title: 'CustomPermissions' },
        ),
      },
      run: withNames(async (_call, _organisation, names) => bare({ additional_permissions: { ...names } })),
    },
    {
      method: 'POST',
      path: PATH,
      access: 'installation',
      summary: 'Create a custom permission of an organisation',
      body: One,
      answers: { 200: CreatedShape },
      run: withNames(async (call, organisation, names) => {
        const { key, label } = call.object() as { key: string; label: string }
        if (Object.hasOwn(names, key)) return refused(409, 'Permission already exists')
        await save(organisation, { ...names, [key]: label })
        return ok('Additional permission created', key)
      }),
    },
    {
      method: 'GET',
      path: `${PATH}/{permission}`,
      access: 'installation',
      summary: 'Read a custom permission',
      answers: { 200: One },
      run: ofOne(async (call, _organisation, names) => {
        const key = call.param('permission')
        return bare({ key, label: names[key]! })
      }),
    },
    {
      method: 'PUT',
      path: `${PATH}/{permission}`,
      access: 'installation',
      summary: 'Rename a custom permission',
      body: Type.Object({ label: Type.String({ description: 'Label of the permission, for people.' }) }),
      answers: { 200: DoneShape },
      run: ofOne(async (call, organisation, names) => {
        await save(organisation, { ...names, [call.param('permission')]: String(call.object().label) })
        return ok('Additional permission updated')
      }),
    },
    {
      method: 'DELETE',
      path: `${PATH}/{permission}`,
      access: 'installation',
      summary: 'Delete a custom permission; users and groups lose it',
      answers: { 200: DoneShape },
      run: ofOne(async (call, organisation, names) => {
        const left = Object.entries(names).filter(([key]) => key !== call.param('permission'))
        await save(organisation, Object.fromEntries(left))
        return ok('Additional permission deleted')
      }),
    },
  ]
}
