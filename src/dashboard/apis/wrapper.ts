import { Type } from 'typebox'
import { CLASSIC_SHAPE, OAS_SHAPE } from '../../model/apis/schema/definition-shapes.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { moment, STORAGE_ID, storageId } from '../routes/text-forms.ts'
import { WebhookReference } from './webhook-reference.ts'

/** The form of an API in lists and single reads of the classic calls; no member is ever null. */
export const Wrapper = Type.Object(
  {
    api_model: Type.Object({}, { description: 'Always an empty object; kept for clients of the incumbent.' }),
    api_definition: Type.Object(
      {
        id: Type.String({ pattern: STORAGE_ID }),
        api_id: Type.String(),
        org_id: Type.String(),
        name: Type.String(),
        slug: Type.String(),
        is_oas: Type.Boolean(),
        active: Type.Boolean(),
        tags: Type.Array(Type.String()),
        proxy: Type.Optional(Type.Object({})),
      },
      describedAs(CLASSIC_SHAPE),
    ),
    hook_references: Type.Array(WebhookReference, { description: 'Webhooks that events of the API call.' }),
    is_site: Type.Literal(false, { description: 'Always false; kept for clients of the incumbent.' }),
    sort_by: Type.Literal(0, { description: 'Always 0; kept for clients of the incumbent.' }),
    user_owners: Type.Array(Type.String(), { description: 'Ids of users who own the API.' }),
    user_group_owners: Type.Array(Type.String(), { description: 'Ids of user groups whose members own the API.' }),
    created_at: moment('Time of creation (RFC 3339); 0001-01-01T00:00:00Z = not known.'),
    updated_at: moment('Time of the last change (RFC 3339); 0001-01-01T00:00:00Z = not known.'),
    categories: Type.Optional(
      Type.Array(Type.String(), { description: 'Categories of an API in OpenAPI format, without `#`.' }),
    ),
    oas: Type.Optional(Type.Object({ openapi: Type.String() }, describedAs(OAS_SHAPE))),
  },
  { title: 'Api' },
)

/** The same with ids, name and paths alone. */
export const ShortWrapper = Type.Object(
  {
    api_definition: Type.Object(
      {
        id: storageId('Storage id of the API: 24 hexadecimal digits.'),
        api_id: Type.String({ description: 'Id of the API.' }),
        name: Type.String({ description: 'Name of the API.' }),
        slug: Type.String({ description: 'Name of the API in URLs.' }),
        is_oas: Type.Boolean({ description: 'True for an API in OpenAPI format, false for one in classic format.' }),
        active: Type.Boolean({ description: 'False for an API that is switched off.' }),
        domain: Type.String({ description: 'Custom domain. Blank: every host.' }),
        proxy: Type.Object(
          { listen_path: Type.String({ description: 'Path under which the gateway serves the API.' }) },
          { description: 'Where the gateway serves the API.' },
        ),
      },
      { title: 'DefinitionSummary', description: 'The members that tell an API from others.' },
    ),
  },
  { title: 'ApiSummary' },
)
