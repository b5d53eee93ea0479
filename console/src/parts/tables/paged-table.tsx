import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect } from 'react'
import { DataTable } from './data-table.tsx'
import { Pager } from './pager.tsx'

type TableProps<Row> = Omit<Parameters<typeof DataTable<Row>>[0], 'error' | 'retry'>

/** One page of a list that the dashboard pages, and the way to the others. */
export function PagedTable<Row>(
  props: TableProps<Row> & {
    /** The query of the page. */
    readonly source: Pick<UseQueryResult, 'error' | 'refetch' | 'isPlaceholderData'>
    readonly page: number
    /** How many there are; undefined until that is known. */
    readonly pages: number | undefined
    readonly onPage: (page: number) => void
  },
) {
  const { source, page, pages, onPage, ...table } = props
  const last = Math.max(1, pages ?? page)
  // The last row of the last page may be gone, and an address may name any page.
  const isBeyond = page > last && !source.isPlaceholderData
  useEffect(() => {
    if (isBeyond) onPage(last)
  }, [isBeyond, last, onPage])
  return (
    <div aria-busy={source.isPlaceholderData}>
      <DataTable
        {...table}
        rows={isBeyond ? undefined : table.rows}
        // A later try that fails leaves the rows that are there.
        error={table.rows === undefined ? source.error : null}
        retry={() => void source.refetch()}
      />
      <Pager page={page} pages={last} onPage={onPage} />
    </div>
  )
}
