import type { Json } from '../../model/json/json.ts'
import { latin1 } from './cells.ts'
import type { PreparedRow } from './prepare.ts'
import { foldedAlias } from './session-filter.ts'

/** The cells of a session of another store, see the table of `transfer.ts`. */
export interface SessionCells {
  readonly orgId: string
  readonly clientId: string
  readonly links: string
  readonly evictAt: number
  readonly sealedKey: Uint8Array
  readonly family: string
  readonly body: string
}

/** The row of a session of another store, with what it is searched by. */
export function loadedSession({ links, sealedKey, body, ...plain }: SessionCells): PreparedRow {
  const [apiIds, policyIds] = JSON.parse(links) as [string[], string[]]
  const { alias } = JSON.parse(body) as { alias?: Json }
  return { ...plain, text: body, apiIds, policyIds, sealedKey: latin1(sealedKey), alias: foldedAlias(alias) }
}
