import { Box, Group, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
import { CheckIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { say } from '../../texts/say.ts'

/** One step of a list: its number, or a tick once it is done. */
export function Step(props: {
  readonly number: number
  readonly title: string
  readonly isDone: boolean
  /** The one to take now. */
  readonly isOpen: boolean
  readonly children: ReactNode
}) {
  const { isDone, isOpen } = props
  return (
    <Group align="flex-start" gap="md" wrap="nowrap" aria-current={isOpen ? 'step' : undefined}>
      <ThemeIcon
        size={28}
        radius="xl"
        variant={isDone || isOpen ? 'filled' : 'default'}
        color={isDone ? 'teal.8' : 'gate'}
        aria-hidden
      >
        {isDone ? (
          <CheckIcon size={16} />
        ) : (
          <Text size="sm" fw={650} inherit>
            {props.number}
          </Text>
        )}
      </ThemeIcon>
      <Box flex={1} miw={0}>
        <Stack gap="xs">
          <Text fw={650} lh="28px" {...(!isDone && !isOpen && { c: 'dimmed' })}>
            {props.title}
            <VisuallyHidden>{isDone ? ` (${say('start.stepIsDone')})` : ''}</VisuallyHidden>
          </Text>
          {props.children}
        </Stack>
      </Box>
    </Group>
  )
}
