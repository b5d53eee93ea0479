import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { USER_NAME } from '../../model/keys/key.ts'
import type { Change, SessionRow, StoredDocument } from '../../store/ports/ports.ts'
import type { SecretParts } from '../documents/parts.ts'
import { basicUserHash } from '../keys/basic-auth-users.ts'

/** The kinds of objects that the gateway stores for an organisation. */
export const OBJECT_KINDS = [
  'api',
  'policy',
  'org_session',
  'certificate',
  'oauth_client',
  'oauth_key',
  'developer',
] as const

const BATCH = 500

/** Gives all objects and sessions of one organisation (`''` = of none) to another, some hundred at a time. Can be repeated. */
export async function moveObjects(parts: SecretParts, from: string, to: string): Promise<void> {
  for await (const changes of movedObjects(parts, from, to)) await parts.documents.commit(changes, undefined)
}

/**
 * The changes that do it, when they are few enough for one commit; undefined when they are more than `most`.
 */
export async function movesWithin(
  parts: SecretParts,
  [from, to]: readonly [string, string],
  most: number,
): Promise<Change[] | undefined> {
  const all: Change[] = []
  for await (const changes of movedObjects(parts, from, to)) {
    all.push(...changes)
    if (all.length > most) return undefined
  }
  return all
}

async function* movedObjects(parts: SecretParts, from: string, to: string): AsyncGenerator<Change[]> {
  for (const kind of OBJECT_KINDS) {
    for await (const batch of parts.documents.scan(kind)) {
      const theirs = batch.filter(({ body }) => (body.org_id ?? '') === from)
      if (theirs.length > 0) yield theirs.map((stored) => movedDocument(stored, to))
    }
  }
  let after: string | undefined
  do {
    const page = await parts.tokens.listSessions({ limit: BATCH, ...(after !== undefined && { after }) })
    const theirs = page.rows.filter(({ orgId }) => orgId === from)
    if (theirs.length > 0) yield theirs.flatMap((row) => movedSession(parts, row, to))
    after = page.next
    await nextTurn()
  } while (after !== undefined)
}

function movedDocument({ kind, id, revision, body }: StoredDocument, to: string): Change {
  const definition = isObject(body.definition) ? { definition: movedDefinition(body.definition, to) } : {}
  return { op: 'put', kind, id, body: { ...body, org_id: to, ...definition }, ifRevision: revision }
}

/** An API names its organisation in its definition too: classic `org_id`, or `info.orgId` of the extension. */
function movedDefinition(definition: JsonObject, to: string): JsonObject {
  const extension = definition['x-svc-api-gateway']
  if (!isObject(extension)) return { ...definition, org_id: to }
  const info = isObject(extension.info) ? extension.info : {}
  return { ...definition, 'x-svc-api-gateway': { ...extension, info: { ...info, orgId: to } } }
}

/** A user is stored under a hash that the organisation is part of. */
function movedSession(parts: SecretParts, { hash, ...row }: SessionRow, to: string): Change[] {
  const name = row.body[USER_NAME]
  const moved = { ...row, orgId: to, body: { ...row.body, org_id: to } }
  if (typeof name !== 'string') return [{ op: 'putSession', hash, row: moved, ifPresent: true }]
  return [
    { op: 'deleteSession', hash },
    { op: 'putSession', hash: basicUserHash(parts, to, name), row: moved },
  ]
}
