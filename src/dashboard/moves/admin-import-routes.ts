import { Type } from 'typebox'
import { toFault } from '../../errors/fault.ts'
import { metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import { asSavable } from '../../model/apis/read/read.ts'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { withRightsMap } from '../../model/policies/policy.ts'
import { type ApiDraft, publishApi } from '../../publish/apis/apis.ts'
import { createPolicy } from '../../publish/policies/policies.ts'
import { INSTALLATION } from '../access/actor.ts'
import { ok } from '../routes/answer.ts'
import { OkStatus, OutcomeText } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const Outcome = Type.Object(
  {
    Status: OkStatus,
    Message: OutcomeText,
    Meta: Type.Record(Type.String(), Type.Boolean(), { description: 'By id: true where it was taken over.' }),
  },
  { title: 'ImportOutcome' },
)

/** A row of a list of another installation. */
const Row = Type.Object({}, { additionalProperties: true })

/** Faults that every other object would get too. */
const UNSTORED = new Set<string>([
  'internal',
  'store_away',
  'store_full',
  'store_damaged',
  'store_frozen',
  'gateway_behind',
  'write_unconfirmed',
])

/** Takes over what another installation's lists show, ids and organisations as they are: `/admin/{apis,policies}/import`. */
export function adminImportRoutes(parts: DashboardParts): Route[] {
  /** One that cannot be taken over does not hold up the others; the log says why. */
  const takeOver = async (rows: readonly JsonObject[], take: (row: JsonObject) => Promise<string>, idOf: IdOf) => {
    const outcome = new Map<string, boolean>()
    for (const [i, row] of rows.entries()) {
      try {
        outcome.set(await take(row), true)
      } catch (error) {
        const { code, message } = toFault(error)
        if (UNSTORED.has(code)) throw error
        parts.log.warn({ code, number: i, reason: message.slice(0, 500) }, 'import rejected')
        outcome.set(idOf(row) || String(i), false)
      }
    }
    return Object.fromEntries(outcome)
  }
  return [
    {
      method: 'POST',
      path: '/admin/apis/import',
      access: 'installation',
      summary: 'Import APIs with their ids',
      body: Type.Object({
        apis: Type.Array(Row, { description: 'APIs in the form in which another installation answers them.' }),
      }),
      answers: { 200: Outcome },
      async run(call) {
        const rows = rowsOf(call.object().apis)
        const changed: string[] = []
        const take = async (row: JsonObject) => {
          const draft = draftOf(row)
          const { definition, changes } = asSavable(draft.format, draft.definition)
          const { document } = await publishApi(parts, { ...draft, definition })
          changed.push(...changes.map((change) => `${document.api_id}: ${change}`))
          return document.api_id
        }
        const outcome = await takeOver(rows, take, apiIdOf)
        return ok(['APIs imported', ...changed].join('; '), outcome)
      },
    },
    {
      method: 'POST',
      path: '/admin/policies/import',
      access: 'installation',
      summary: 'Import policies with their ids',
      body: Type.Object({
        Data: Type.Array(Row, { description: 'Policies in the form in which another installation answers them.' }),
        Pages: Type.Optional(Type.Integer({ description: 'As the list of policies has it; it is not read.' })),
      }),
      answers: { 200: Outcome },
      async run(call) {
        const take = async (row: JsonObject) => {
          const { policy } = await createPolicy(parts, withRightsMap(row), INSTALLATION, { fillIds: true })
          return textOf(policy._id)
        }
        return ok('Policies imported', await takeOver(rowsOf(call.object().Data), take, (row) => textOf(row._id)))
      },
    },
  ]
}

type IdOf = (row: JsonObject) => string

function draftOf(row: JsonObject): ApiDraft {
  const own = isObject(row.oas) ? ({ format: 'oas', definition: row.oas } as const) : classicOf(row)
  return { ...own, metadata: metadataOfApi(row), actor: INSTALLATION }
}

/** A bare definition is taken too. */
function classicOf(row: JsonObject): Pick<ApiDraft, 'format' | 'definition'> {
  return { format: 'classic', definition: isObject(row.api_definition) ? row.api_definition : row }
}

function apiIdOf(row: JsonObject): string {
  return textOf((isObject(row.api_definition) ? row.api_definition : row).api_id)
}

const rowsOf = (list: Json | undefined) => (Array.isArray(list) ? list.filter(isObject) : [])
const textOf = (value: Json | undefined) => (typeof value === 'string' ? value : '')
