import { Center, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { InboxIcon, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** A place where nothing is yet: what would be here, and the first thing to do. */
export function Empty(props: {
  readonly icon?: LucideIcon
  /** Left out where the page is headed by it. */
  readonly title?: string
  /** 1 where the page has no other heading. */
  readonly order?: 1 | 2
  readonly hint?: ReactNode
  readonly children?: ReactNode
}) {
  const Sign = props.icon ?? InboxIcon
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="xs" maw="34rem" ta="center">
        <ThemeIcon size={48} radius="xl" variant="light" aria-hidden>
          <Sign size={26} />
        </ThemeIcon>
        {props.title !== undefined && (
          <Title order={props.order ?? 2} size="h4">
            {props.title}
          </Title>
        )}
        {props.hint !== undefined && (
          <Text c="dimmed" size="sm" component="div">
            {props.hint}
          </Text>
        )}
        {props.children}
      </Stack>
    </Center>
  )
}
