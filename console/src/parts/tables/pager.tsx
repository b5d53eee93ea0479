import { Group, Pagination, Select, Text } from '@mantine/core'
import { say } from '../../texts/say.ts'
import { count } from '../display/when.tsx'

/** Sizes of a page that readers choose from, as addresses have them; the first unless they do. */
const PAGE_SIZES = ['25', '50', '100'] as const

/** The rows of a list that readers choose the size of its pages of. */
export interface Sized {
  readonly size: string
  /** Number of all rows; undefined until it is known. */
  readonly total: number | undefined
  readonly onSize: (size: string) => void
}

/** Pages of a list, as the dashboard counts them: from 1. Nothing for one page, but for lists whose pages have a size to choose. */
export function Pager(props: {
  readonly page: number
  readonly pages: number
  readonly sized?: Sized
  readonly onPage: (page: number) => void
}) {
  const { page, pages, sized } = props
  if (pages <= 1 && sized === undefined) return null
  return (
    <Group justify="space-between" mt="md">
      {sized === undefined ? <span /> : <Size {...sized} page={page} />}
      {pages > 1 && (
        <Pagination
          total={pages}
          value={page}
          onChange={props.onPage}
          getControlProps={(control) => ({ 'aria-label': say(control === 'next' ? 'part.next' : 'part.previous') })}
          size="sm"
        />
      )}
    </Group>
  )
}

function Size({ page, size, total, onSize }: Sized & { readonly page: number }) {
  const first = (page - 1) * Number(size)
  const range = {
    from: count(first + 1),
    to: count(Math.min(first + Number(size), total ?? 0)),
    total: count(total ?? 0),
  }
  return (
    <Group gap="sm">
      <Select
        aria-label={say('list.size')}
        data={[...PAGE_SIZES]}
        value={size}
        allowDeselect={false}
        size="xs"
        w={76}
        onChange={(value) => onSize(value ?? PAGE_SIZES[0])}
      />
      <Text size="sm" c="dimmed" className="figure">
        {total === undefined || total === 0 ? '' : say('list.range', range)}
      </Text>
    </Group>
  )
}

/** The size that an address names; the usual one for any other text. */
export function pageSizeIn(word: string): (typeof PAGE_SIZES)[number] {
  return PAGE_SIZES.find((size) => size === word) ?? PAGE_SIZES[0]
}
