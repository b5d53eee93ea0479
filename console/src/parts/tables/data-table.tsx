import { Box, Checkbox, Group, Skeleton, Table, Text, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDownIcon, ArrowUpDownIcon, ArrowUpIcon } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { say } from '../../texts/say.ts'
import { FaultBox } from '../display/fault-box.tsx'
import type { Selection } from './selection.ts'

/** A column: its name, its content, and the dashboard's name to sort by it. */
export interface Column<Row> {
  readonly name: string
  readonly title: string
  /** The title is there for those who do not see the table alone, as over buttons. */
  readonly isTitleHidden?: boolean
  readonly cell: (row: Row) => ReactNode
  readonly sortBy?: string
  readonly isNumber?: boolean
  /** Left out on phones. */
  readonly wideOnly?: boolean
  readonly width?: string | number
}

export interface Sorting {
  readonly by: string
  readonly descending: boolean
}

interface Props<Row> {
  /** The name of the rows, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[] | undefined
  readonly rowKey: (row: Row) => string
  readonly error?: unknown
  readonly retry?: () => void
  readonly sorting?: Sorting
  readonly onSort?: (sorting: Sorting) => void
  /** Rows can be chosen; `nameOf` says which one a box is for. */
  readonly selection?: Selection<Row>
  readonly nameOf?: (row: Row) => string
  /** Shown instead of the rows when there are none. */
  readonly empty: ReactNode
  /** From so many rows on only those in view are drawn. */
  readonly drawAll?: number
}

const ROW_PX = 45
const OVERSCAN = 12
const WAITING = ['1', '2', '3', '4', '5', '6']

/** The table of every list: sorted by the dashboard, smooth with ten thousand rows. */
export function DataTable<Row>(props: Props<Row>) {
  const { rows, drawAll = 200 } = props
  if (props.error !== undefined && props.error !== null)
    return <FaultBox error={props.error} {...(props.retry && { retry: props.retry })} />
  if (rows !== undefined && rows.length === 0) return props.empty
  if (rows !== undefined && rows.length > drawAll) return <Tall {...props} rows={rows} />
  return (
    <Table.ScrollContainer minWidth={0}>
      <Table highlightOnHover aria-label={props.label} aria-busy={rows === undefined}>
        <Head {...props} />
        <Table.Tbody>
          {rows === undefined
            ? WAITING.map((key) => (
                <Table.Tr key={key}>
                  <Table.Td colSpan={props.columns.length + (props.selection ? 1 : 0)}>
                    <Skeleton height={18} />
                  </Table.Td>
                </Table.Tr>
              ))
            : rows.map((row) => <Line key={props.rowKey(row)} table={props} row={row} />)}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Draws only the rows in view, between two empty ones that are as high as those left out. */
function Tall<Row>(props: Props<Row> & { readonly rows: readonly Row[] }) {
  const { rows } = props
  const frame = useRef<HTMLDivElement>(null)
  const view = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  })
  const drawn = view.getVirtualItems()
  const above = drawn[0]?.start ?? 0
  const below = view.getTotalSize() - (drawn.at(-1)?.end ?? 0)
  return (
    <Box ref={frame} mah="70vh" tabIndex={0} role="region" aria-label={props.label} style={{ overflow: 'auto' }}>
      <Table highlightOnHover stickyHeader aria-label={props.label} aria-rowcount={rows.length + 1}>
        <Head {...props} />
        <Table.Tbody>
          <tr aria-hidden style={{ height: above }} />
          {drawn.map(({ index }) => (
            <Line
              key={props.rowKey(rows[index]!)}
              table={props}
              row={rows[index]!}
              index={index}
              measure={view.measureElement}
            />
          ))}
          <tr aria-hidden style={{ height: below }} />
        </Table.Tbody>
      </Table>
    </Box>
  )
}

function Line<Row>(props: {
  readonly table: Pick<Props<Row>, 'columns' | 'selection' | 'nameOf' | 'rowKey'>
  readonly row: Row
  /** Place of a row among all, where only some are drawn. */
  readonly index?: number
  /** Called with the height of the row: long names take more than one line. */
  readonly measure?: (row: HTMLElement | null) => void
}) {
  const { index, measure, row } = props
  const { columns, selection, nameOf, rowKey } = props.table
  const place = index !== undefined && { 'aria-rowindex': index + 2, 'data-index': index }
  return (
    <Table.Tr {...place} {...(measure && { ref: measure })}>
      {selection && (
        <Table.Td w={36}>
          <Checkbox
            size="xs"
            aria-label={say('list.select', { name: nameOf?.(row) ?? rowKey(row) })}
            checked={selection.chosen.has(rowKey(row))}
            onChange={() => selection.toggle(row)}
          />
        </Table.Td>
      )}
      {columns.map((column) => (
        <Table.Td key={column.name} className={classOf(column)} {...(column.wideOnly && { visibleFrom: 'sm' })}>
          {column.cell(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

function Head<Row>({ columns, sorting, onSort, selection, rows = [], rowKey }: Props<Row>) {
  const areSome = selection !== undefined && rows.some((row) => selection.chosen.has(rowKey(row)))
  const areAll = areSome && rows.every((row) => selection.chosen.has(rowKey(row)))
  return (
    <Table.Thead>
      <Table.Tr>
        {selection && (
          <Table.Th w={36}>
            <Checkbox
              size="xs"
              aria-label={say('list.selectAll')}
              checked={areAll}
              indeterminate={areSome && !areAll}
              onChange={() => selection.toggleAll(rows)}
            />
          </Table.Th>
        )}
        {columns.map((column) => (
          <Table.Th
            key={column.name}
            w={column.width}
            className={column.isNumber ? 'number' : undefined}
            {...(column.wideOnly && { visibleFrom: 'sm' })}
            {...(column.sortBy !== undefined && { 'aria-sort': orderOf(column.sortBy, sorting) })}
          >
            {column.isTitleHidden ? (
              <VisuallyHidden>{column.title}</VisuallyHidden>
            ) : column.sortBy === undefined || onSort === undefined ? (
              <Text size="sm" fw={600} span>
                {column.title}
              </Text>
            ) : (
              <SortButton title={column.title} by={column.sortBy} sorting={sorting} onSort={onSort} />
            )}
          </Table.Th>
        ))}
      </Table.Tr>
    </Table.Thead>
  )
}

function SortButton(props: {
  readonly title: string
  readonly by: string
  readonly sorting: Sorting | undefined
  readonly onSort: (sorting: Sorting) => void
}) {
  const { by, sorting } = props
  const order = orderOf(by, sorting)
  const Arrow = order === 'none' ? ArrowUpDownIcon : order === 'descending' ? ArrowDownIcon : ArrowUpIcon
  return (
    <UnstyledButton onClick={() => props.onSort({ by, descending: order === 'ascending' })}>
      <Group gap={4} wrap="nowrap">
        <Text size="sm" fw={600} span>
          {props.title}
        </Text>
        <Arrow size={14} aria-hidden opacity={order === 'none' ? 0.4 : 1} />
      </Group>
    </UnstyledButton>
  )
}

function orderOf(by: string, sorting: Sorting | undefined): 'none' | 'ascending' | 'descending' {
  if (sorting?.by !== by) return 'none'
  return sorting.descending ? 'descending' : 'ascending'
}

function classOf<Row>({ isNumber }: Column<Row>): string {
  return isNumber ? 'number' : 'wrap-anywhere'
}
