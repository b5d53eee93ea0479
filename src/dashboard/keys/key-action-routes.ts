import { Type } from 'typebox'
import { counterIdOf } from '../../model/keys/key.ts'
import { hexOf } from '../../model/text/hex.ts'
import { rotateKey } from '../../publish/keys/rotate-key.ts'
import { resetQuotas } from '../../publish/sessions/quotas.ts'
import { overlapSent, RotationBody } from '../portal/developers/access-body.ts'
import { type Answer, bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { keyInPath } from './key-view.ts'

const Rotated = Type.Object(
  {
    key_id: Type.String({ description: 'The new key. It is shown now, and never again.' }),
    key_hash: Type.String({ description: 'Hash of the new key.' }),
    rotated_from: Type.String({ description: 'Hash of the old key.' }),
    valid_until: Type.String({ description: 'Until when the old key is good as well; empty = no longer.' }),
  },
  { title: 'RotatedKey' },
)

const NAMING = {
  hashed: Type.String({ description: 'Anything: the path holds the hash of the key.' }),
  auto_guess: Type.String({ description: 'true: the path holds the key or its hash.' }),
}

/** The actions on a key besides changing its session. */
export function keyActRoutes(parts: DashboardParts): Route[] {
  const shared = {
    method: 'POST',
    access: { permission: 'keys', intent: 'write' },
    owned: { noun: 'key', by: 'keyId' },
  } as const
  return [
    {
      ...shared,
      path: '/api/keys/{keyId}/rotate',
      summary: 'Rotate a key; the old key may stay valid for a while',
      query: NAMING,
      body: RotationBody,
      bodyIs: 'any',
      bodyOptional: true,
      answers: { 200: Rotated },
      run: (call) => rotate(parts, call),
    },
    {
      ...shared,
      path: '/api/keys/{keyId}/reset_quota',
      summary: 'Reset the quotas of a key',
      query: { ...NAMING, username: Type.String({ description: 'true: the path holds the name of a basic user.' }) },
      answers: { 200: DoneEnvelope },
      async run(call) {
        const { row } = await keyInPath(parts, call)
        const counterId = counterIdOf(row.body, hexOf(row.hash))
        await resetQuotas(parts, row.body, row.orgId, counterId, { always: true })
        return ok('Quota reset')
      },
    },
  ]
}

async function rotate(parts: DashboardParts, call: Call): Promise<Answer> {
  const { row } = await keyInPath(parts, call)
  const overlapS = overlapSent(call)
  const saved = await rotateKey(parts, row, call.actor!.email, { overlapS })
  const old = overlapS === 0 ? undefined : await parts.tokens.getSession(row.hash)
  return bare({
    key_id: saved.key ?? '',
    key_hash: saved.keyHash,
    rotated_from: hexOf(row.hash),
    valid_until: old === undefined ? '' : new Date(old.evictAt).toISOString(),
  })
}
