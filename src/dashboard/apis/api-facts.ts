import { Type } from 'typebox'
import { categoriesOf } from '../../model/apis/definition/api-metadata.ts'
import { summaryOf } from '../../model/apis/definition/fill-ids.ts'
import { textOf, textsOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { appliedOf } from '../../model/labels/label.ts'
import { type ApiSyncStatus, type NodeStatus, type StoredApiState, syncStatusOf } from '../../model/nodes/node.ts'
import { readable } from '../../publish/apis/api-plan.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { described } from '../routes/described.ts'
import { moment, storageId } from '../routes/text-forms.ts'

const Texts = Type.Array(Type.String())

/** One API in a few words, for a page that shows many: none of its definition, but where it is served. */
export const ApiFacts = Type.Object(
  {
    id: storageId('Storage id of the API: 24 hexadecimal digits.'),
    api_id: Type.String({ description: 'Id of the API.' }),
    name: Type.String({ description: 'Name of the API.' }),
    is_oas: Type.Boolean({ description: 'True for an API in OpenAPI format, false for one in classic format.' }),
    active: Type.Boolean({ description: 'False for an API that is switched off.' }),
    internal: Type.Boolean({ description: 'True for an API that only other APIs reach.' }),
    listen_path: Type.String({ description: 'Path under which the gateway serves the API.' }),
    domain: Type.String({ description: 'Custom domain. Blank: every host.' }),
    upstreams: described(
      Texts,
      'Addresses that requests are forwarded to, without user names, passwords and queries. Several: they are balanced.',
    ),
    auth_types: described(Texts, 'Names of the authentication methods, such as `authToken` or `jwt`.'),
    categories: described(Texts, 'Categories, without `#`.'),
    tags: described(Texts, 'Tags of gateways that load the API. Empty: see the segmentation of nodes.'),
    labels: Type.Array(
      Type.Object(
        {
          key: Type.String({ description: 'Key of the label.' }),
          value: Type.String({ description: 'Value that the API has for it.' }),
        },
        { title: 'AppliedLabel' },
      ),
      { description: 'Labels of the API.' },
    ),
    updated_at: moment('Time of the last change (RFC 3339).'),
    nodes: Type.Record(Type.String(), Type.Integer(), { description: 'Number of nodes by state.' }),
  },
  { title: 'ApiFacts' },
)

/** The facts of a stored API; `now` in ms since the epoch decides which nodes are heard of. */
export function factsOf(stored: StoredDocument, nodes: readonly NodeStatus[], now: number): JsonObject {
  const { id, body } = stored
  const { api_id, name, active, listenPath, domain, upstreams } = summaryOf(documentOf(body))
  const states = nodes.map((node) => syncStatusOf(storedApiStateOf(stored), node, now))
  return {
    ...{ id, api_id, name, is_oas: body.format === 'oas', active, internal: body.api_type === 'internal' },
    listen_path: listenPath,
    domain,
    upstreams: [...upstreams],
    auth_types: textsOf(body, 'auth_types'),
    categories: categoriesOf(body),
    tags: [...(readable(stored)?.tags ?? [])],
    labels: appliedOf(body).map((label) => ({ ...label })),
    updated_at: textOf(body, 'updated_at'),
    nodes: counted(states),
  }
}

/** The fields of a stored API that decide its state on a node. */
export function storedApiStateOf(stored: StoredDocument): StoredApiState {
  const { revision, body } = stored
  const api = readable(stored)
  return { apiId: documentOf(body).api_id, revision, active: api?.active ?? true, tags: api?.tags }
}

function counted(states: readonly ApiSyncStatus[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of states) counts[state] = (counts[state] ?? 0) + 1
  return counts
}
