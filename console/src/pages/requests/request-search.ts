import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { listRequests, REQUESTS_KEY, type RequestFilters, type RequestRecord } from '../../api/traffic/requests.ts'
import { useAddress } from '../../app/address.ts'
import { spanOf } from '../../parts/charts/time-buckets.ts'

export const NO_FILTERS: RequestFilters = {
  ...{ api: '', method: '', path: '', status: '', errors: '', key: '', client: '', tag: '', request_id: '' },
}

const ABSENT = { range: '1h', from: '', to: '', view: 'history', ...NO_FILTERS }

export type SearchWords = Readonly<Record<keyof typeof ABSENT, string>>

/** The address of the page: its time, its filters, and whether requests are followed as they come. */
export function useSearchWords() {
  const [words, set] = useAddress(ABSENT)
  const { api, method, path, status, errors, key, client, tag, request_id } = words
  const filters = useMemo<RequestFilters>(
    () => ({ api, method, path, status, errors, key, client, tag, request_id }),
    [api, method, path, status, errors, key, client, tag, request_id],
  )
  return { words, filters, set }
}

/** The requests of a time, some hundred at once, the newest first. A relative time ends when it was asked for. */
export function useHistory({ range, from, to }: SearchWords, filters: RequestFilters) {
  const [asOfMs, setAsOf] = useState(Date.now)
  const span = useMemo(() => spanOf({ range, from, to }, asOfMs), [range, from, to, asOfMs])
  const answer = useInfiniteQuery({
    queryKey: [...REQUESTS_KEY, span, filters],
    queryFn: ({ pageParam, signal }) => listRequests(span, filters, pageParam, signal),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (all.length < last.pages ? all.length + 1 : undefined),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    staleTime: 60_000,
  })
  const rows = useMemo(
    () => answer.data && numbered(answer.data.pages.flatMap(({ records }) => records)),
    [answer.data],
  )
  const { dropped = 0, kept } = answer.data?.pages[0] ?? {}
  return { ...answer, span, rows, dropped, kept, refresh: () => setAsOf(Date.now()) }
}

/** A request with a unique name: requests have no id. */
export interface Row {
  readonly name: string
  readonly record: RequestRecord
}

/** Names requests by when and what they were; those that are alike by their number from the oldest on, which stays. */
function numbered(records: readonly RequestRecord[]): readonly Row[] {
  const seen = new Map<string, number>()
  return records
    .toReversed()
    .map((record) => {
      const name = `${record.TimeStamp} ${record.RequestID || record.RawPath}`
      const number = seen.get(name) ?? 0
      seen.set(name, number + 1)
      return { name: number === 0 ? name : `${name} ${number}`, record }
    })
    .toReversed()
}
