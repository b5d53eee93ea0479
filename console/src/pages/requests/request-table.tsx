import { Anchor, Badge, Box, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { duration } from '../../parts/display/when.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'
import { say } from '../../texts/say.ts'
import type { Row } from './request-search.ts'

const MOMENT = new Intl.DateTimeFormat(undefined, {
  ...({ day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
})
/** Holds the method and the path together, so that a long path begins on the same line. */
const NARROW_SPACE = '\u00a0'
const HASH_CHARACTERS = 10

/** Single requests as a table; only the rows in view are drawn. */
export function RequestTable(props: {
  readonly rows: readonly Row[] | undefined
  readonly onOpen: (row: Row) => void
  readonly empty: ReactNode
  readonly error?: unknown
  readonly retry?: () => void
}) {
  return (
    <DataTable
      label={say('requests.title')}
      columns={columns(props.onOpen)}
      rows={props.rows}
      rowKey={({ name }) => name}
      drawAll={60}
      empty={props.empty}
      error={props.error}
      {...(props.retry && { retry: props.retry })}
    />
  )
}

/** The status of an answer by its colour and its number. */
export function StatusBadge({ status }: { readonly status: number }) {
  const color = status >= 500 ? 'red' : status >= 400 ? 'orange' : status >= 300 ? 'gray' : 'teal'
  return (
    <Badge
      color={color}
      variant="light"
      radius="sm"
      miw={46}
      autoContrast
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      {status}
    </Badge>
  )
}

function columns(onOpen: (row: Row) => void): readonly Column<Row>[] {
  return [
    {
      name: 'time',
      title: say('requests.time'),
      width: 128,
      wideOnly: true,
      cell: ({ record }) => (
        <Text size="sm" className="number" ta="start">
          {MOMENT.format(new Date(record.TimeStamp))}
        </Text>
      ),
    },
    {
      name: 'status',
      title: say('requests.status'),
      width: 76,
      cell: ({ record }) => <StatusBadge status={record.ResponseCode} />,
    },
    {
      name: 'path',
      title: say('requests.path'),
      cell: (row) => <Path row={row} onOpen={onOpen} />,
    },
    {
      name: 'api',
      title: say('requests.api'),
      wideOnly: true,
      width: '18%',
      cell: ({ record }) => (
        <Text size="sm" lineClamp={1} dir="auto" ta="left" title={record.APIName} className="wrap-anywhere">
          {record.APIName || record.APIID}
        </Text>
      ),
    },
    {
      name: 'key',
      title: say('requests.key'),
      wideOnly: true,
      width: '14%',
      cell: ({ record }) => (
        <Text
          size="sm"
          lineClamp={1}
          dir="auto"
          ta="left"
          title={record.Alias || record.APIKey}
          className="wrap-anywhere"
        >
          {record.Alias || record.OauthID.slice(0, HASH_CHARACTERS) || record.APIKey.slice(0, HASH_CHARACTERS)}
        </Text>
      ),
    },
    {
      name: 'took',
      title: say('requests.took'),
      isNumber: true,
      width: 84,
      cell: ({ record }) => duration(record.Latency.Total),
    },
  ]
}

function Path({ row, onOpen }: { readonly row: Row; readonly onOpen: (row: Row) => void }) {
  const { Method, Path: path, TimeStamp } = row.record
  const time = MOMENT.format(new Date(TimeStamp))
  return (
    <Box>
      <Anchor
        component="button"
        type="button"
        size="sm"
        ta="start"
        ff="monospace"
        className="wrap-anywhere"
        lineClamp={2}
        title={path}
        aria-label={say('requests.open', { method: Method, path, time })}
        onClick={() => onOpen(row)}
      >
        <Text span inherit fw={600}>
          {Method}
        </Text>
        {NARROW_SPACE}
        {path}
      </Anchor>
      <Text size="xs" c="dimmed" hiddenFrom="sm">
        {time}
      </Text>
    </Box>
  )
}
