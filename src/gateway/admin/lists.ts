import type { JsonObject } from '../../model/json/json.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { Awaitable } from '../../store/ports/ports.ts'
import { type AdminAnswer, jsonText } from './answer.ts'
import type { AdminParts } from './parts.ts'
import { type AdminRequest, pageOf } from './request.ts'

const PAGE = 100

/**
 * Answers a list of documents as an array: all of them, or page `p` of 100 with the number of pages in `X-Pages`; `org_id` narrows it.
 * `more` are the bodies of what is not stored, which follow. Read in batches, and written out in turns that traffic does not notice.
 */
export async function listDocuments(
  parts: AdminParts,
  request: AdminRequest,
  kind: string,
  show: (body: JsonObject) => Awaitable<JsonObject | undefined>,
  more: readonly JsonObject[] = [],
): Promise<AdminAnswer> {
  const page = pageOf(request)
  const orgId = request.text('org_id')
  const texts: string[] = []
  const slice = new WorkSlice()
  const take = async (bodies: readonly JsonObject[]) => {
    for (const body of bodies) {
      if (slice.isOver) await slice.next()
      if (orgId !== '' && body.org_id !== orgId) continue
      const made = show(body)
      const shown = made instanceof Promise ? await made : made
      if (shown !== undefined) texts.push(JSON.stringify(shown))
    }
  }
  if (page !== undefined) {
    const where = orgId === '' ? {} : { where: { org_id: orgId } }
    const offset = (page - 1) * PAGE
    const { rows, total } = await parts.store.documents.list(kind, { ...where, offset, limit: PAGE })
    const others = orgId === '' ? more : more.filter((body) => body.org_id === orgId)
    await take(rows.map(({ body }) => body))
    await take(others.slice(Math.max(0, offset - total), Math.max(0, offset + PAGE - total)))
    return jsonText(`[${texts.join(',')}]`, `X-Pages: ${Math.max(1, Math.ceil((total + others.length) / PAGE))}\r\n`)
  }
  for await (const batch of parts.store.documents.scan(kind)) await take(batch.map(({ body }) => body))
  await take(more)
  return jsonText(`[${texts.join(',')}]`)
}
