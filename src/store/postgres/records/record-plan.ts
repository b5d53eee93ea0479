import type { PreparedRecordQuery } from '../../prepare/prepare-records.ts'

/** Conditions that must all hold, and what is bound to them. */
export class Conditions {
  readonly text: string
  readonly values: readonly unknown[]

  constructor(text = 'true', values: readonly unknown[] = []) {
    this.text = text
    this.values = values
  }

  /** These and one more, in which each `?` is one of the values. */
  and(condition: string, ...values: readonly unknown[]): Conditions {
    let next = this.values.length
    const own = condition.replace(/\?/g, () => `$${++next}`)
    return new Conditions(`${this.text} AND ${own}`, [...this.values, ...values])
  }
}

/** The conditions of a search. */
export function recordConditions(query: PreparedRecordQuery): Conditions {
  let found = recordsOf(query).and('at_ms >= ?::bigint AND at_ms < ?::bigint', query.from, query.to)
  const where = (condition: string, value: unknown) => {
    if (value !== undefined) found = found.and(condition, value)
  }
  where('status = ?::bigint', query.status)
  if (query.errors) found = found.and('status >= 400')
  where('method = ?', query.method)
  where('key_hash = ?', query.keyHash)
  where('client_id = ?', query.clientId)
  where('strpos(tags, ?) > 0', query.tag)
  where('strpos(path, ?) > 0', query.path)
  return found
}

/** The conditions on organisation and API alone. */
export function recordsOf({ orgId, apiIds }: PreparedRecordQuery): Conditions {
  let found = new Conditions()
  if (orgId !== undefined) found = found.and('org_id = ?', orgId)
  if (apiIds !== undefined) found = found.and('api_id = ANY(?::text[])', apiIds)
  return found
}
