import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { DataTable } from './data-table.tsx'
import { ListKeys } from './list-keys.tsx'
import { Pager, type Sized } from './pager.tsx'

type TableProps<Row> = Omit<Parameters<typeof DataTable<Row>>[0], 'error' | 'retry'>

/** One page of a list that the dashboard pages, and the way to the others. */
export function PagedTable<Row>(
  props: TableProps<Row> & {
    /** The query of the page. */
    readonly source: Pick<UseQueryResult, 'error' | 'refetch' | 'isPlaceholderData'>
    readonly page: number
    /** How many there are; undefined until that is known. */
    readonly pages: number | undefined
    /** Readers choose the size of pages. */
    readonly sized?: Sized
    readonly onPage: (page: number) => void
  },
) {
  const { source, page, pages, onPage, sized, ...table } = props
  const frame = useRef<HTMLDivElement>(null)
  const last = Math.max(1, pages ?? page)
  // The last row of the last page may be gone, and an address may name any page.
  const isBeyond = page > last && !source.isPlaceholderData
  useEffect(() => {
    if (isBeyond) onPage(last)
  }, [isBeyond, last, onPage])
  return (
    <div ref={frame} aria-busy={source.isPlaceholderData}>
      <ListKeys frame={frame} />
      <DataTable
        {...table}
        rows={isBeyond ? undefined : table.rows}
        // A later try that fails leaves the rows that are there.
        error={table.rows === undefined ? source.error : null}
        retry={() => void source.refetch()}
      />
      <Pager page={page} pages={last} onPage={onPage} {...(sized && { sized })} />
    </div>
  )
}
