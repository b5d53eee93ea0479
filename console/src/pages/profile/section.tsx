import { Card, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** A section of the profile: title, state, actions. */
export function Section(props: {
  readonly title: string
  readonly hint?: ReactNode
  /** Beside the title. */
  readonly state?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <Card withBorder padding="lg" component="section">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4">
            {props.title}
          </Title>
          {props.state}
        </Group>
        {props.hint !== undefined && (
          <Text size="sm" c="dimmed" component="div">
            {props.hint}
          </Text>
        )}
        {props.children}
      </Stack>
    </Card>
  )
}
