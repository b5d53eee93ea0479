import { createHash } from 'node:crypto'
import type { DocumentId } from '../../model/documents/ids.ts'
import { asJson } from '../../model/json/json.ts'
import type { NodeStatus } from '../../model/nodes/node.ts'
import type { Change, Documents } from '../../store/ports/ports.ts'

const NODE_KIND = 'node'
const FORGOTTEN_AFTER_MS = 30 * 86_400_000

/** Where the status of the node of this name is stored. */
export function nodeDocumentId(name: string): DocumentId {
  return createHash('sha256').update(`node ${name}`).digest('hex').slice(0, 24) as DocumentId
}

/**
 * Stores the status of a node, replacing the previous one of its name. Returns that one;
 * undefined = there was none. @throws Fault `store_away`, `store_full`
 */
export async function writeNodeStatus(
  parts: { readonly documents: Documents },
  status: NodeStatus,
): Promise<NodeStatus | undefined> {
  const id = nodeDocumentId(status.name)
  const before = await findNode(parts, id)
  const body = asJson({ ...status })
  await parts.documents.commit([{ op: 'put', kind: NODE_KIND, id, body }], undefined)
  return before
}

/** All nodes that were ever heard of within a month, by name. */
export async function listNodes({ documents }: { readonly documents: Documents }): Promise<NodeStatus[]> {
  const nodes: NodeStatus[] = []
  for await (const batch of documents.each(NODE_KIND, { order: 'name' })) nodes.push(...batch.map(({ body }) => body))
  return nodes
}

/** One node by its document id. */
export async function findNode(
  { documents }: { readonly documents: Documents },
  id: DocumentId,
): Promise<NodeStatus | undefined> {
  const found = await documents.get(NODE_KIND, id)
  return found?.body
}

/** Forgets nodes that nothing was heard of for a month before `now`. @throws Fault `store_away`, `store_full` */
export async function forgetNodes(parts: { readonly documents: Documents }, now: number): Promise<void> {
  const nodes = await listNodes(parts)
  const gone = nodes.filter(({ seen_at }) => now - Date.parse(seen_at) > FORGOTTEN_AFTER_MS)
  const changes = gone.map(({ name }): Change => ({ op: 'delete', kind: NODE_KIND, id: nodeDocumentId(name) }))
  if (changes.length > 0) await parts.documents.commit(changes, undefined)
}
