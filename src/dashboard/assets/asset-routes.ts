import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { objectOf } from '../../model/apis/definition/members.ts'
import { toOwnWords, toVendorWords } from '../../model/apis/definition/vendor-words.ts'
import { readAsset } from '../../model/assets/asset.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { describedMembers } from '../../model/openapi/component-schemas.ts'
import { createAsset, findAsset, removeAsset, type SavedAsset, updateAsset } from '../../publish/assets/assets.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../access/secrets-view.ts'
import { aliasOf } from '../apis/vendor-alias.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { OutcomeText } from '../routes/envelope.ts'
import { listPieces } from '../routes/listed.ts'
import type { Route } from '../routes/route.ts'
import { moment, storageId } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'

const members = {
  _id: storageId('Storage id: 24 hexadecimal digits.'),
  id: Type.String({ description: 'Id of the asset, unique in the organisation. Absent in a new one: one is made.' }),
  kind: Type.String({ description: 'Kind of asset: `oas-template`.' }),
  name: Type.String({ description: 'Name of the asset.' }),
  description: Type.String({ description: 'Text for people.' }),
  data: Type.Object({}, { additionalProperties: true, description: 'Parts of an OpenAPI document.' }),
  last_updated: moment('Time of the last change (RFC 3339).'),
  org_id: Type.String({ description: 'Id of the organisation.' }),
}
const AssetShape = Type.Object(members, { title: 'Asset' })
const Body = Type.Unknown(
  describedMembers('AssetInput', {
    ...members,
    last_updated: Type.String({ description: 'Each save writes it.' }),
    kind: Type.Enum(['oas-template'], { description: 'Kind of asset.' }),
  }),
)
const Saved = Type.Object(
  {
    Status: Type.Literal('success', { description: 'Always `success`.' }),
    Message: OutcomeText,
    Meta: storageId('Storage id of the asset: 24 hexadecimal digits.'),
    ID: Type.String({ description: 'Id of the asset.' }),
  },
  { title: 'AssetSaved' },
)
const READ = { permission: 'api_assets', intent: 'read' } as const
const WRITE = { permission: 'api_assets', intent: 'write' } as const
const ONE = '/api/assets/{asset_id}'

/** Assets, which are templates of APIs: `/api/assets`. */
export function assetRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/assets',
      access: READ,
      summary: 'List assets: a bare array',
      query: { kind: Type.String({ description: '`oas-template`: only these.' }) },
      answers: { 200: Type.Array(AssetShape) },
      run: (call) => {
        const kind = call.query('kind')
        const where = { ...call.visibility.whereOrg(), ...(kind !== '' && { kind }) }
        const batches = parts.documents.each('asset', { where, order: 'name_folded' })
        return { status: 200, body: listPieces(batches, (stored) => shown(parts, call, stored)) }
      },
    },
    {
      method: 'POST',
      path: '/api/assets',
      access: WRITE,
      summary: 'Create an asset',
      body: Body,
      answers: { 201: Saved },
      run: async (call) => {
        const sent = call.object()
        const { orgId, email } = call.actor!
        const made = { orgId, documentId: sent._id, draft: draftOf(parts, sent) }
        return saved('asset created', await createAsset(parts, made, email), 201)
      },
    },
    {
      method: 'GET',
      path: ONE,
      access: READ,
      summary: 'Read an asset',
      answers: { 200: AssetShape },
      run: async (call) => bare(shown(parts, call, await assetOf(parts, call))),
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      summary: 'Replace an asset, which keeps its id',
      body: Body,
      answers: { 200: Saved },
      run: async (call) => {
        const stored = await assetOf(parts, call)
        const draft = draftOf(parts, call.object())
        const data = restoreMaskedSecrets(draft.data, objectOf(stored.body, 'data'), 'asset_invalid')
        return saved('asset updated', await updateAsset(parts, stored, { ...draft, data }, call.actor!.email))
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      summary: 'Delete an asset; APIs created from it are kept',
      answers: { 200: Saved },
      run: async (call) => {
        const stored = await assetOf(parts, call)
        await removeAsset(parts, stored, call.actor!.email)
        return saved('asset deleted', { documentId: stored.id, asset: stored.body })
      },
    },
  ]
}

/** @throws Fault `asset_unknown` (404) */
async function assetOf(parts: DashboardParts, call: Call): Promise<StoredDocument<'asset'>> {
  const stored = await findAsset(parts, call.visibility.whereOrg(), call.param('asset_id'))
  if (stored === undefined || !call.visibility.org(stored)) throw fault('asset_unknown')
  return stored
}

function draftOf({ config }: DashboardParts, sent: JsonObject) {
  const draft = readAsset(sent)
  const { path_matching: matching } = config.compat
  return { ...draft, data: toOwnWords('oas', draft.data, config.compat.vendor_aliases, matching).definition }
}

function shown(parts: DashboardParts, call: Call, { id: _id, body }: StoredDocument<'asset'>): JsonObject {
  const { id, kind, name, description, data, last_updated, org_id } = body
  return {
    _id,
    id,
    kind,
    name,
    description,
    data: toVendorWords('oas', maskSecretsFor(call, 'api_assets', data), aliasOf(parts, call)),
    last_updated,
    org_id,
  }
}

/** Clients of assets expect a different success status. */
function saved(message: string, { documentId, asset }: SavedAsset, status = 200): Answer {
  return { status, body: { Status: 'success', Message: message, Meta: documentId, ID: asset.id } }
}
