import { Group, Pagination, Text } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'

/** Pages of a list, as the dashboard counts them: from 1. Nothing for one page. */
export function Pager(props: {
  readonly page: number
  readonly pages: number
  readonly total?: number
  readonly onPage: (page: number) => void
}) {
  if (props.pages <= 1) return null
  return (
    <Group justify="space-between" mt="md">
      <Text size="sm" c="dimmed">
        {props.total === undefined ? '' : count(props.total)}
      </Text>
      <Pagination
        total={props.pages}
        value={props.page}
        onChange={props.onPage}
        getControlProps={(control) => ({ 'aria-label': say(control === 'next' ? 'part.next' : 'part.previous') })}
        size="sm"
      />
    </Group>
  )
}
