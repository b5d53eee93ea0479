import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Json, JsonObject } from '../../model/json/json.ts'
import type { Documents, Kind, ListQuery, StoredDocument } from '../../store/ports/ports.ts'
import { type Answer, bare } from './answer.ts'
import { type Page, pagesOf } from './page.ts'

/** Rows that are put into words before others get their turn. */
const TURN = 64

/** The form of a list response. */
export interface ListShape<Row> {
  /** Name of the member that holds the rows. */
  readonly name: string
  /** Name of the member that holds the number of pages; `pages` unless given. */
  readonly pages?: string
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
  { name, pages = 'pages', shape }: ListShape<Row>,
): Promise<Answer> {
  return bare({ [name]: await Promise.all(rows.map(shape)), [pages]: pagesOf(total, page) })
}

/** Answers everything that comes, a batch at a time. */
export function streamed<Row>(
  batches: AsyncIterable<readonly Row[]>,
  { name, pages = 'pages', shape }: ListShape<Row>,
): Answer {
  return { status: 200, body: pieces(name, shown(batches, shape), { [pages]: 0 }) }
}

/** A bare list, which comes in batches, as pieces of JSON text. */
export async function* listPieces<Row>(
  batches: AsyncIterable<readonly Row[]>,
  shape: (row: Row) => Json,
): AsyncGenerator<string> {
  let before = '['
  for await (const batch of batches) {
    if (batch.length === 0) continue
    yield before + batch.map((row) => JSON.stringify(shape(row))).join(',')
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** An object of one list, which comes in batches, and further members behind it, as pieces of JSON text. */
export async function* pieces(
  name: string,
  batches: AsyncIterable<readonly Json[]>,
  more: JsonObject,
): AsyncGenerator<string> {
  let comma = ''
  yield `{${JSON.stringify(name)}:[`
  for await (const batch of batches) {
    if (batch.length === 0) continue
    yield comma + batch.map((row) => JSON.stringify(row)).join(',')
    comma = ','
  }
  const rest = JSON.stringify(more).slice(1)
  yield `]${rest === '}' ? '' : ','}${rest}`
}

async function* shown<Row>(
  batches: AsyncIterable<readonly Row[]>,
  shape: ListShape<Row>['shape'],
): AsyncGenerator<readonly Json[]> {
  for await (const batch of batches) {
    for (let start = 0; start < batch.length; start += TURN) {
      // A page of the store may take long to render.
      if (start > 0) await nextTurn()
      yield Promise.all(batch.slice(start, start + TURN).map(shape))
    }
  }
}
