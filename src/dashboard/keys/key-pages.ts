import { setImmediate as nextTurn } from 'node:timers/promises'
import { asJson } from '../../model/json/json.ts'
import { isLargeJson } from '../../model/json/json-pieces.ts'
import type { SessionFilter, SessionReach, SessionRow, Tokens } from '../../store/ports/ports.ts'
import type { KeyTotals } from './key-totals.ts'

/** Which keys a list wants. */
export interface KeyQuery {
  /** '' = of all organisations. */
  readonly orgId: string
  /** Keys with rights on one of these APIs: by themselves, or by one of these policies. Absent = all. */
  readonly reach?: SessionReach
  /** Part of the alias; '' = any. */
  readonly part: string
}

/** Sessions may have a megabyte each: batches begin small, and grow while those that they hold are small. */
const SMALLEST_BATCH = 32
/** A store that is written to may look for all that match before each batch. */
const LARGEST_BATCH = 200

/** A page of keys in order of creation, and how many there are. Counted and cut in the store. */
export async function pageOfKeys(
  { tokens, totals }: { readonly tokens: Tokens; readonly totals: KeyTotals },
  query: KeyQuery,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ rows: SessionRow[]; total: number }> {
  const filter = filterOf(query)
  const total = await totals.count(filter)
  const { rows } = await tokens.listSessions({ ...filter, ...page })
  return { rows, total }
}

/** All keys that a query wants, in order of creation, in batches. */
export function eachKey(tokens: Tokens, query: KeyQuery): AsyncGenerator<readonly SessionRow[]> {
  return batches(tokens, filterOf(query))
}

async function* batches(tokens: Tokens, filter: SessionFilter): AsyncGenerator<SessionRow[]> {
  let after: string | undefined
  let limit = SMALLEST_BATCH
  do {
    const page = await tokens.listSessions({ ...filter, limit, ...(after !== undefined && { after }) })
    const isLarge = isLargeJson(page.rows.map(({ body }) => asJson(body)))
    limit = isLarge ? SMALLEST_BATCH : Math.min(LARGEST_BATCH, limit * 2)
    yield page.rows
    after = page.next
    await nextTurn()
  } while (after !== undefined)
}

function filterOf({ orgId, reach, part }: KeyQuery): SessionFilter {
  return {
    only: 'keys',
    ...(orgId !== '' && { orgId }),
    ...(reach !== undefined && { reach }),
    ...(part !== '' && { contains: part }),
  }
}
