import { Stack, Text } from '@mantine/core'

/** A number with its name, and what it compares with. */
export function Figure(props: {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly isBad?: boolean
}) {
  return (
    <Stack gap={0}>
      <Text size="sm" c="dimmed">
        {props.name}
      </Text>
      <Text fz={28} fw={650} lh={1.25} className="figure" {...(props.isBad === true && { 'data-bad': true })}>
        {props.value}
      </Text>
      <Text size="xs" c="dimmed">
        {props.note}
      </Text>
    </Stack>
  )
}
