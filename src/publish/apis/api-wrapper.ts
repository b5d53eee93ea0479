import { toFault } from '../../errors/fault.ts'
import { servedClassic } from '../../model/apis/convert/convert.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { categoriesOf, metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import { slugOf, summaryOf } from '../../model/apis/definition/fill-ids.ts'
import { textOf, textsOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { toVendorWords } from '../../model/apis/definition/vendor-words.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'

const NO_DATE = '0001-01-01T00:00:00Z'

/** A stored API in the classic calls' words; `alias` is used for our word, undefined = ours. */
export function wrapperOf({ id, body }: StoredDocument, alias: string | undefined): JsonObject {
  const document = documentOf(body)
  const { hook_references = [], user_owners = [], user_group_owners = [] } = metadataOfApi(body)
  return {
    api_model: {},
    api_definition: toVendorWords('classic', shownDefinition(id, document), alias),
    hook_references: [...hook_references],
    is_site: false,
    sort_by: 0,
    user_owners: [...user_owners],
    user_group_owners: [...user_group_owners],
    created_at: textOf(body, 'created_at') || NO_DATE,
    updated_at: textOf(body, 'updated_at') || NO_DATE,
    ...(document.format === 'oas' && {
      categories: categoriesOf(body),
      oas: toVendorWords('oas', document.definition, alias),
    }),
  }
}

/** The shortest that tells an API from others. */
export function shortWrapperOf({ id, body }: StoredDocument): JsonObject {
  const document = documentOf(body)
  const { api_id, name, active, listenPath, domain } = summaryOf(document)
  const is_oas = document.format === 'oas'
  const slug = textOf(document.definition, 'slug') || slugOf(name)
  return { api_definition: { id, api_id, name, slug, is_oas, active, domain, proxy: { listen_path: listenPath } } }
}

function shownDefinition(id: string, document: ApiDocument): JsonObject {
  const { api_id, org_id, name, format } = document
  const classic = inClassicWords(document)
  const shown: JsonObject = { id, api_id, org_id, name, slug: slugOf(name), is_oas: format === 'oas', active: false }
  for (const [member, value] of Object.entries(classic)) {
    // Clients check what is there by a schema that knows no null.
    if (value !== null && member !== 'is_oas') shown[member] = value
  }
  return { ...shown, id, api_id, org_id, tags: textsOf(classic, 'tags') }
}

/** One that cannot be read any more has its ids. */
function inClassicWords({ format, definition }: ApiDocument): JsonObject {
  if (format === 'classic') return definition
  try {
    return servedClassic(definition)
  } catch (error) {
    if (toFault(error).code === 'internal') throw error
    return {}
  }
}
