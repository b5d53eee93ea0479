import { Type } from 'typebox'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { counterIdOf } from '../../model/keys/key.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { SESSION_SCHEMA } from '../../model/sessions/session.ts'
import { hexOf } from '../../model/text/hex.ts'
import { rawKeyOf } from '../../publish/keys/keys.ts'
import type { Withheld } from '../../publish/sessions/effective-session.ts'
import { sessionView } from '../../publish/sessions/quotas.ts'
import type { SessionRow } from '../../store/ports/ports.ts'
import { maskSecretsFor } from '../access/secrets-view.ts'
import type { Visibility } from '../access/visibility.ts'
import type { Call } from '../routes/call.ts'
import { PageCount, WARNINGS_TEXT, Warning } from '../routes/envelope.ts'
import type { DashboardParts } from '../server/parts.ts'

/** A session, as what is sent. */
export const SessionBody = Type.Object({}, { description: 'A session.', ...describedAs(SESSION_SCHEMA) })

/** A key with its session. */
export const KeyData = Type.Object(
  {
    api_model: Type.Object({}, { description: 'Always an empty object; kept for clients of the incumbent.' }),
    key_id: Type.String({
      description:
        'The key. Where the installation stores no keys, it is shown when it is created, and is the hash later.',
    }),
    key_hash: Type.String({ description: 'Hash of the key.' }),
    data: Type.Object(
      {
        org_id: Type.String(),
        apply_policies: Type.Array(Type.String()),
        access_rights: Type.Record(Type.String(), Type.Object({})),
        tags: Type.Array(Type.String()),
        meta_data: Type.Record(Type.String(), Type.Unknown()),
      },
      describedAs(SESSION_SCHEMA),
    ),
    warnings: Type.Optional(Type.Array(Warning, { description: WARNINGS_TEXT })),
  },
  { title: 'Key' },
)

/** Members that readers take for granted. */
const BLANK: JsonObject = { org_id: '', apply_policies: [], access_rights: {}, tags: [], meta_data: {} }

/** A session as callers see it, none of its usual members missing or null. */
export function toSessionView(session: JsonObject): JsonObject {
  const said = Object.entries(session).filter(([name, value]) => value !== null || !Object.hasOwn(BLANK, name))
  const shown: JsonObject = { ...BLANK, ...Object.fromEntries(said) }
  return { ...shown, access_rights: isObject(shown.access_rights) ? shown.access_rights : {} }
}

/** A stored key with its policies applied and its counts as they are. `key` is '' where nobody knows it. */
export async function keyData(
  parts: DashboardParts,
  { visibility }: Pick<Call, 'visibility'>,
  row: Pick<SessionRow, 'hash' | 'body' | 'orgId'>,
  key: string,
) {
  const keyHash = hexOf(row.hash)
  const session = await sessionView(
    parts,
    row.body,
    row.orgId,
    counterIdOf(row.body, keyHash),
    withheldFrom(visibility),
  )
  return { api_model: {}, key_id: key, key_hash: keyHash, data: toSessionView(session) } satisfies Json
}

/** Policies of which the caller sees nothing in a key that has them besides others. */
export function withheldFrom(visibility: Visibility): Withheld {
  return (policy) => !visibility.policy({ body: policy })
}

/**
 * A key as a caller may read it: the key itself and the secrets of its session are for those who may write it. `isNamed`: the caller named
 * the key, and so knows it.
 */
export function maskKeyFor<Data extends { readonly key_id: string }>(
  call: Pick<Call, 'actor'>,
  data: Data & JsonObject,
  { isAlone, isNamed = false }: { readonly isAlone: boolean; readonly isNamed?: boolean },
): Data {
  const masked = maskSecretsFor(call, 'keys', data, isAlone)
  return isNamed ? { ...masked, key_id: data.key_id } : masked
}

/**
 * The name of a key in lists: its hash, or the key itself where the installation keeps keys and the caller may know it.
 * @throws Fault `seal_broken`
 */
export function listedName(parts: DashboardParts, row: SessionRow, mayKnow: boolean): string {
  return (mayKnow ? rawKeyOf(parts, row) : undefined) ?? hexOf(row.hash)
}

/** A page of keys without their sessions; of the limits of organisations, whose keys they are. */
export const KeyNamePage = Type.Object(
  {
    data: Type.Object(
      {
        keys: Type.Array(Type.String(), {
          description:
            'Keys, or their hashes where the installation stores no keys; ids of organisations for their limits.',
        }),
      },
      { title: 'KeyNames', description: 'The keys of the page.' },
    ),
    pages: PageCount,
  },
  { title: 'KeyNamePage' },
)
