import { Type } from 'typebox'
import { CLASSIC_SHAPE, OAS_SHAPE } from '../../model/apis/schema/definition-shapes.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { WebhookReference } from './webhook-reference.ts'

/** The form of an API in lists and single reads of the classic calls; no member is ever null. */
export const Wrapper = Type.Object(
  {
    api_model: Type.Object({}),
    api_definition: Type.Object(
      {
        id: Type.String({ pattern: '^[0-9a-f]{24}$' }),
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
    hook_references: Type.Array(WebhookReference),
    is_site: Type.Literal(false),
    sort_by: Type.Literal(0),
    user_owners: Type.Array(Type.String()),
    user_group_owners: Type.Array(Type.String()),
    created_at: Type.String(),
    updated_at: Type.String(),
    categories: Type.Optional(Type.Array(Type.String())),
    oas: Type.Optional(Type.Object({ openapi: Type.String() }, describedAs(OAS_SHAPE))),
  },
  { title: 'Api' },
)

/** The same with ids, name and paths alone. */
export const ShortWrapper = Type.Object(
  {
    api_definition: Type.Object(
      {
        id: Type.String(),
        api_id: Type.String(),
        name: Type.String(),
        slug: Type.String(),
        is_oas: Type.Boolean(),
        active: Type.Boolean(),
        domain: Type.String(),
        proxy: Type.Object({ listen_path: Type.String() }),
      },
      { title: 'DefinitionSummary' },
    ),
  },
  { title: 'ApiSummary' },
)
