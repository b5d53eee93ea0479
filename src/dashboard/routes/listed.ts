import { performance } from 'node:perf_hooks'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { jsonPieces } from '../../model/json/json-pieces.ts'
import { WorkSlice } from '../../runtime/turns.ts'
import type { Documents, Kind, ListQuery, StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, bare } from './answer.ts'
import { type Page, pagesOf } from './page.ts'

/** Rows that wait together for what they ask the store. */
const TOGETHER = 64
/** Work of one group, without its wait, from which on the next ones are smaller. */
const GROUP_MS = 4

/** The form of a list response. */
export interface ListShape<Row> {
  /** Name of the member that holds the rows. */
  readonly name: string
  /** Name of the member that holds the number of pages; `pages` unless given. */
  readonly pages?: string
  /** Name of the member that holds the number of all rows; absent = the answer has none. */
  readonly total?: string
  readonly shape: (row: Row) => Json | Promise<Json>
}

/** Answers a page of documents and the number of pages, or all of them as fast as the caller reads. @throws Fault `store_away` */
export async function listed<K extends Kind>(
  documents: Pick<Documents, 'list' | 'each'>,
  kind: K,
  query: Omit<ListQuery, 'offset' | 'limit'>,
  page: Page,
  shape: ListShape<StoredDocument<K>>,
): Promise<Answer> {
  if (page === 'all') return streamed(documents.each(kind, query), shape)
  const { rows, total } = await documents.list(kind, { ...query, ...page })
  return pageAnswer(rows, total, page, shape)
}

/** Answers the rows of one page, of `total` rows in all. */
export async function pageAnswer<Row>(
  rows: readonly Row[],
  total: number,
  page: Page,
  { name, pages = 'pages', total: counted, shape }: ListShape<Row>,
): Promise<Answer> {
  const counts = { [pages]: pagesOf(total, page), ...(counted !== undefined && { [counted]: total }) }
  return bare({ [name]: await shapedInTurns(rows, shape), ...counts })
}

/** Answers everything that comes, a batch at a time. */
export function streamed<Row>(
  batches: AsyncIterable<readonly Row[]>,
  { name, pages = 'pages', shape }: ListShape<Row>,
): Answer {
  return { status: 200, body: pieces(name, shownInTurns(batches, shape), { [pages]: 0 }) }
}

/** A bare list, which comes in batches, as pieces of JSON text. */
export async function* listPieces<Row>(
  batches: AsyncIterable<readonly Row[]>,
  shape: ListShape<Row>['shape'],
): AsyncGenerator<string> {
  yield '['
  yield* rowPieces(shownInTurns(batches, shape))
  yield ']'
}

/** An object of one list, which comes in batches, and further members behind it, as pieces of JSON text. */
export async function* pieces(
  name: string,
  batches: AsyncIterable<readonly Json[]>,
  more: JsonObject,
): AsyncGenerator<string> {
  yield `{${JSON.stringify(name)}:[`
  yield* rowPieces(batches)
  const rest = JSON.stringify(more).slice(1)
  yield `]${rest === '}' ? '' : ','}${rest}`
}

/** Rows with commas between them: small ones together, large ones in pieces, in turns of the event loop. */
async function* rowPieces(batches: AsyncIterable<readonly Json[]>): AsyncGenerator<string> {
  const slice = new WorkSlice()
  let text = ''
  let comma = ''
  for await (const batch of batches) {
    for (const row of batch) {
      text += comma
      comma = ','
      for (const piece of jsonPieces(row)) {
        text += piece
        if (!slice.isOver) continue
        yield text
        text = ''
        await slice.next()
      }
    }
    if (text !== '') yield text
    text = ''
  }
}

/**
 * Shapes rows in turns. Those of a group wait together for what they ask the store; a group is one row where rows are large, for all
 * that rows do after their wait is done in one turn. `groups`: their size, from one call to the next.
 */
async function shapedInTurns<Row>(
  rows: readonly Row[],
  shape: ListShape<Row>['shape'],
  groups = { size: 1 },
): Promise<Json[]> {
  const slice = new WorkSlice()
  const shapes: Json[] = []
  while (shapes.length < rows.length) {
    const { size } = groups
    const group = rows.slice(shapes.length, shapes.length + size)
    const before = performance.eventLoopUtilization()
    shapes.push(...(await Promise.all(group.map(async (row) => shape(row)))))
    // A store that is far away makes a group wait, and is no reason for smaller ones.
    const { active } = performance.eventLoopUtilization(before)
    groups.size = active > GROUP_MS ? Math.max(1, Math.floor(size / 2)) : Math.min(TOGETHER, size * 2)
    if (slice.isOver) await slice.next()
  }
  return shapes
}

async function* shownInTurns<Row>(
  batches: AsyncIterable<readonly Row[]>,
  shape: ListShape<Row>['shape'],
): AsyncGenerator<readonly Json[]> {
  const groups = { size: 1 }
  for await (const batch of batches) {
    for (let start = 0; start < batch.length; start += TOGETHER)
      yield await shapedInTurns(batch.slice(start, start + TOGETHER), shape, groups)
  }
}
