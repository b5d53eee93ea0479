import { Type } from 'typebox'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { foldCase } from '../../model/text/fold.ts'
import { rebaseApi } from '../../publish/apis/apis.ts'
import { type VersionLine, versionLines } from '../../publish/apis/version-lines.ts'
import { checkForeignVersionsUnchanged } from '../access/co-owned.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { actorName, apiOf, notChangeable, notReadable } from './store-api.ts'

const READ = { permission: 'apis', intent: 'read' } as const
const WRITE = { permission: 'apis', intent: 'write' } as const

const Versions = Type.Object(
  {
    status: Type.Literal('success', { description: 'Always `success`.' }),
    apis: Type.Array(
      Type.Object({
        id: Type.String({ description: 'Id of the API.' }),
        name: Type.String({ description: 'Name of the API.' }),
        versionName: Type.String({ description: 'Name of the API as a version. Blank where it has none.' }),
        internal: Type.Boolean({ description: 'True for a version that only other APIs reach.' }),
        expirationDate: Type.String({
          description: 'Time from which the version is refused (RFC 3339). Blank: never.',
        }),
        isDefaultVersion: Type.Boolean({ description: 'True for the version that serves requests which name none.' }),
      }),
      { description: 'The base API and its versions.' },
    ),
  },
  { title: 'ApiVersionList' },
)

/** The versions of an API: who they are, and which of them is the base of the others. */
export function apiVersionRoutes(parts: DashboardParts): Route[] {
  const list = (path: string): Route => ({
    method: 'GET',
    path,
    access: READ,
    owned: { noun: 'api', by: 'id' },
    summary: 'List the versions of an API',
    query: {
      searchText: Type.String({ maxLength: 256, description: 'Part of the name of API or version.' }),
      accessType: Type.Enum(['internal', 'external']),
    },
    answers: { 200: Versions },
    run: (call) => listVersions(parts, call),
  })
  return [
    list('/api/apis/{id}/versions'),
    list('/api/apis/oas/{id}/versions'),
    {
      method: 'PATCH',
      path: '/api/apis/oas/{base}/rebase/{next}',
      access: WRITE,
      owned: { noun: 'api', by: 'base' },
      summary: 'Make a version of an API the base version',
      answers: { 200: DoneEnvelope },
      run: (call) => rebase(parts, call),
    },
  ]
}

async function listVersions(parts: DashboardParts, call: Call): Promise<Answer> {
  const stored = await apiOf(parts, call, call.param('id'))
  if (stored === undefined) return notReadable()
  const lines = await versionLines(parts, documentOf(stored.body), (version) => call.visibility.api(version))
  return bare({ status: 'success', apis: lines.filter(wanted(call)).map((line) => ({ ...line })) })
}

function wanted(call: Call): (line: VersionLine) => boolean {
  const part = foldCase(call.query('searchText'))
  const access = call.query('accessType')
  return ({ name, versionName, internal }) =>
    (foldCase(name).includes(part) || foldCase(versionName).includes(part)) &&
    (access === '' || (access === 'internal') === internal)
}

async function rebase(parts: DashboardParts, call: Call): Promise<Answer> {
  const base = await apiOf(parts, call, call.param('base'))
  const next = await apiOf(parts, call, call.param('next'))
  if (base === undefined || next === undefined) return notChangeable()
  // Its versions are asked for at another listen path afterwards.
  checkForeignVersionsUnchanged(call.visibility, base.body, undefined)
  await rebaseApi(parts, {
    baseId: String(base.body.api_id),
    nextId: String(next.body.api_id),
    actor: actorName(call),
  })
  return ok('API updated.')
}
