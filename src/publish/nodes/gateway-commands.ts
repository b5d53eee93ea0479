import { createHash } from 'node:crypto'
import type { DocumentId } from '../../model/documents/ids.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { GatewayCommand } from '../../model/nodes/node.ts'
import type { Revision } from '../../store/ports/ports.ts'
import { clockOf, type PublishParts } from '../documents/parts.ts'

const ORDER_KIND = 'order'

/**
 * Sends a command to every gateway, through the feed. One document holds all equal commands: it is rewritten each time.
 * Returns the revision from which on it has been applied. @throws Fault `store_away`, `store_full`
 */
export function sendGatewayCommand(
  parts: Pick<PublishParts, 'documents' | 'clock'>,
  { order, subject }: GatewayCommand,
): Promise<Revision> {
  const id = createHash('sha256').update(`order ${order} ${subject}`).digest('hex').slice(0, 24) as DocumentId
  const body: JsonObject = { order, subject, at: new Date(clockOf(parts).wall()).toISOString() }
  return parts.documents.commit([{ op: 'put', kind: ORDER_KIND, id, body }], undefined)
}
