import { Type } from 'typebox'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { OAS_SHAPE } from '../../model/apis/schema/definition-shapes.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { Warning } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiDocumentOf, apiNamed } from './api-document.ts'
import { type Migrated, type Migration, MODES, migrateApi } from './migrate.ts'
import { draftOf } from './store-api.ts'

/** APIs of one call; more go into further calls. */
const MOST = 1000

const Body = Type.Object(
  {
    mode: Type.Enum([...MODES], {
      description:
        '`dryRun`: shows the result, stores nothing. `stage`: stores it as a copy of its own. `promote`: the copy replaces the API. `direct`: the result replaces it at once.',
    }),
    apiIDs: Type.Optional(
      Type.Array(Type.String({ maxLength: 256 }), { maxItems: MOST, description: 'Left out: all classic APIs.' }),
    ),
    abortOnFailure: Type.Optional(
      Type.Boolean({ description: 'true: the first API that cannot be migrated ends the call.' }),
    ),
    overrideStaged: Type.Optional(Type.Boolean({ description: 'true: `stage` replaces a copy that is there.' })),
  },
  { title: 'ApiMigration' },
)
const Result = Type.Object(
  {
    apis: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the API, or the id that was sent where nothing has it.' }),
        name: Type.String({ description: 'Name of the API.' }),
        status: Type.Enum(['success', 'failed', 'skipped'], { description: 'Outcome for this API.' }),
        reason: Type.String({ description: 'Why it was skipped or failed. Blank for a success.' }),
        carried: Type.Array(Type.String(), {
          description: 'Pointers to what has no OpenAPI twin and is served from what the document carries.',
        }),
        warnings: Type.Optional(
          Type.Array(Warning, { description: 'Members that have no effect, or another one than before.' }),
        ),
        stagedId: Type.Optional(Type.String({ description: 'Id of the staged copy.' })),
        oas: Type.Optional(Type.Object({}, describedAs(OAS_SHAPE))),
      }),
      { description: 'One entry for each API, in the order of the body.' },
    ),
    status: Type.Object(
      {
        success: Type.Integer({ description: 'Number of APIs that were migrated.' }),
        failed: Type.Integer({ description: 'Number of APIs that could not be migrated.' }),
        skipped: Type.Integer({ description: 'Number of APIs for which there was nothing to do.' }),
      },
      { description: 'How many came to what.' },
    ),
  },
  { title: 'ApiMigrationResult' },
)

/** `/api/apis/migrate`: classic APIs become OpenAPI ones. */
export function apiMigrationRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'POST',
      path: '/api/apis/migrate',
      access: { permission: 'apis', intent: 'write' },
      summary: 'Migrate classic APIs to the OpenAPI format, at once or by a staged copy',
      body: Body,
      answers: { 200: Result },
      run: (call) => migrate(parts, call),
    },
  ]
}

async function migrate(parts: DashboardParts, call: Call): Promise<Answer> {
  const sent = call.object()
  const migration: Migration = {
    mode: MODES.find((mode) => mode === sent.mode)!,
    overrideStaged: sent.overrideStaged === true,
    sees: (stored) => call.visibility.org(stored) && call.visibility.api(stored),
    draft: draftOf(parts, call),
  }
  const results: Migrated[] = []
  for (const target of await targets(parts, call, sent)) {
    const done = typeof target === 'string' ? unknownApi(target) : (await migrateApi(parts, migration, target)).result
    results.push(done)
    if (done.status === 'failed' && sent.abortOnFailure === true) break
  }
  const count = (status: Migrated['status']) => results.filter((result) => result.status === status).length
  return bare({
    apis: results.map((result) => ({ ...result, carried: [...result.carried] })),
    status: { success: count('success'), failed: count('failed'), skipped: count('skipped') },
  })
}

/** The APIs that are named, or the name where there is none. @throws Fault `not_owner` (401) before anything is changed */
async function targets(parts: DashboardParts, call: Call, sent: JsonObject): Promise<(StoredDocument | string)[]> {
  if (Array.isArray(sent.apiIDs)) {
    const found: (StoredDocument | string)[] = []
    for (const id of new Set(sent.apiIDs.map(String))) {
      const there = await apiNamed(parts.documents, call.visibility, id)
      found.push(there === undefined ? id : await apiDocumentOf(parts, call, id))
    }
    return found
  }
  const all: StoredDocument[] = []
  for await (const batch of parts.documents.each('api', { where: call.visibility.where() }))
    for (const stored of batch) if (documentOf(stored.body).format === 'classic' && all.length < MOST) all.push(stored)
  return all
}

function unknownApi(id: string): Migrated {
  return { id, name: '', status: 'failed', reason: 'Could not retrieve API detail', carried: [] }
}
