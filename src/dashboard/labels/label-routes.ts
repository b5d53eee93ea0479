import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { labelShape, readWanted } from '../../model/labels/label.ts'
import { ALSO, describedAs, describedMembers } from '../../model/openapi/component-schemas.ts'
import { applyLabels, createLabel, detachLabel, removeLabel, updateLabel } from '../../publish/labels/labels.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { apiDocumentOf } from '../apis/api-document.ts'
import { bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope, PageCount } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { storageId } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const members = {
  id: storageId('Storage id: 24 hexadecimal digits.'),
  name: Type.String({ description: 'Name of the label. Unique in the organisation, whatever its case.' }),
  values: Type.Array(Type.String(), { description: 'Values that are allowed. Empty: any text.' }),
  key: Type.String({
    description: 'Key of the label in APIs. Absent in a new one: it follows from the name. It never changes.',
  }),
  value_type: Type.Enum(['free_text', 'predefined'], {
    description: '`predefined` where `values` has some, else `free_text`.',
  }),
}
const LabelShape = Type.Object(members, { title: 'Label' })
const Body = Type.Unknown(describedMembers('LabelInput', members))
const Applied = Type.Array(
  Type.Object(
    {
      key: Type.String({ description: 'Key of the label.' }),
      value: Type.String({ description: 'Value that the API has for it.' }),
    },
    { title: 'AppliedLabel' },
  ),
)
const WantedLabel = {
  ...{ title: 'WantedLabel', type: 'object', required: ['value'] },
  properties: {
    key: Type.String({ description: 'Key of the label. Absent: `name` counts.' }),
    name: Type.String({ description: 'Name of the label, where no key is given.' }),
    value: Type.String({ description: 'Value that the API gets.' }),
  },
}
const WantedLabels = { type: 'array', items: WantedLabel }
const Wanted = Type.Unknown(
  describedAs({
    ...WantedLabels,
    [ALSO]: [
      WantedLabel,
      Type.Object(
        { labels: Type.Unknown({ ...describedAs(WantedLabels), description: 'Labels to apply.' }) },
        { title: 'WantedLabelList' },
      ),
      Type.Object(
        {
          labels: Type.Record(Type.String(), Type.String(), { description: 'Values by the key or name of the label.' }),
        },
        { title: 'WantedLabelMap' },
      ),
    ],
  }),
)
const InUse = Type.Object(
  {
    labels: Type.Array(
      Type.Object({
        key: Type.String({ description: 'Key of the label.' }),
        values: Type.Array(
          Type.Object({
            value: Type.String({ description: 'Value of the label.' }),
            count: Type.Integer({ description: 'Number of APIs that have it.' }),
          }),
          { description: 'Values that APIs have.' },
        ),
      }),
      { description: 'Labels that APIs have.' },
    ),
  },
  { title: 'LabelsInUse' },
)

const READ = { permission: 'apis', intent: 'read' } as const
const WRITE = { permission: 'apis', intent: 'write' } as const

/** Labels: their definitions, and which of them APIs carry. */
export function labelRoutes(parts: DashboardParts): Route[] {
  return [
    ...definitionRoutes(parts),
    ...inUseRoutes(parts),
    ...['/api', '/api/apis'].flatMap((at) => appliedAt(parts, at)),
  ]
}

function definitionRoutes(parts: DashboardParts): Route[] {
  const { documents } = parts
  return [
    {
      method: 'GET',
      path: '/api/labels',
      access: READ,
      summary: 'List labels',
      query: { p: Type.Integer() },
      answers: {
        200: Type.Object({
          labels: Type.Array(LabelShape, { description: 'Labels of the page.' }),
          pages: PageCount,
        }),
      },
      run: async (call) => {
        const query = { where: call.visibility.whereOrg(), order: 'name_folded' }
        const shape = ({ id, body }: StoredDocument<'label'>) => labelShape(id, body)
        return listed(documents, 'label', query, pageOf(call), { name: 'labels', shape })
      },
    },
    {
      method: 'POST',
      path: '/api/labels',
      access: 'admin',
      summary: 'Create a label',
      body: Body,
      answers: { 200: LabelShape },
      run: async (call) => {
        const { id, label } = await createLabel(parts, call.actor!.orgId, call.object(), call.actor!.email)
        return bare(labelShape(id, label))
      },
    },
    {
      method: 'GET',
      path: '/api/labels/{id}',
      access: READ,
      summary: 'Read a label',
      answers: { 200: LabelShape },
      run: async (call) => {
        const { id, body } = await definitionOf(parts, call)
        return bare(labelShape(id, body))
      },
    },
    {
      method: 'PUT',
      path: '/api/labels/{id}',
      access: 'admin',
      summary: 'Change a label',
      body: Body,
      answers: { 200: LabelShape },
      run: async (call) => {
        const { id, label } = await updateLabel(
          parts,
          await definitionOf(parts, call),
          call.object(),
          call.actor!.email,
        )
        return bare(labelShape(id, label))
      },
    },
    {
      method: 'DELETE',
      path: '/api/labels/{id}',
      access: 'admin',
      summary: 'Delete a label that no API has',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        await removeLabel(parts, await definitionOf(parts, call), call.actor!.email)
        return ok('Label deleted')
      },
    },
  ]
}

function inUseRoutes({ documents }: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/apis/labels',
      access: READ,
      summary: 'List the labels in use, to filter APIs by',
      answers: { 200: InUse },
      run: async (call) => {
        const byKey = new Map<string, { value: string; count: number }[]>()
        for (const { value: filed, count } of await documents.values('api', 'label', {
          where: call.visibility.where(),
        })) {
          const [key = '', value = ''] = filed.split(/=(.*)/s)
          byKey.set(key, [...(byKey.get(key) ?? []), { value, count }])
        }
        return bare({ labels: [...byKey].map(([key, values]) => ({ key, values })) })
      },
    },
  ]
}

/** The labels of one API, under either of the paths that callers use. */
function appliedAt(parts: DashboardParts, start: string): Route[] {
  const path = `${start}/{api_id}/labels`
  const owned = { noun: 'api', by: 'api_id' } as const
  return [
    {
      ...{ method: 'GET', path, access: READ, owned },
      summary: 'List the labels of an API',
      answers: { 200: Applied },
      run: async (call) => {
        const { body } = await apiDocumentOf(parts, call, call.param('api_id'))
        const labels = Array.isArray(body.labels) ? body.labels : []
        return bare(labels)
      },
    },
    {
      ...{ method: 'POST', path, access: WRITE, owned },
      summary: 'Apply labels to an API',
      body: Wanted,
      answers: { 200: Applied },
      run: async (call) => {
        const { id } = await apiDocumentOf(parts, call, call.param('api_id'))
        const labels = await applyLabels(parts, id, readWanted(call.json()), call.actor!.email)
        return bare(labels.map((label) => ({ ...label })))
      },
    },
    {
      ...{ method: 'DELETE', path: `${path}/{key}`, access: WRITE, owned },
      summary: 'Remove a label from an API',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { id } = await apiDocumentOf(parts, call, call.param('api_id'))
        await detachLabel(parts, id, call.param('key'), call.actor!.email)
        return ok('Label removed')
      },
    },
  ]
}

/** The label that the path names. @throws Fault `not_found` (404) */
async function definitionOf({ documents }: DashboardParts, call: Call): Promise<StoredDocument<'label'>> {
  const id = call.param('id')
  const stored = isDocumentId(id) ? await documents.get('label', id) : undefined
  if (stored === undefined || !call.visibility.org(stored)) throw fault('not_found', 'Label not found')
  return stored
}
