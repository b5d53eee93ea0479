import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { useHeadingFocus } from '../../app/heading-focus.ts'

/** Names longer than this are written smaller. */
const LONG = 60

/** The head of a page: what it is, what to do on it. Also names the browser's tab. */
export function PageHead(props: { readonly title: string; readonly hint?: ReactNode; readonly children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useHeadingFocus(heading)
  useEffect(() => {
    document.title = `${props.title} · Gatehouse`
  }, [props.title])
  return (
    <Group justify="space-between" align="flex-start" mb="md" gap="sm">
      <Stack gap={2} miw={0} flex="1 1 16rem">
        <Title
          ref={heading}
          tabIndex={-1}
          order={1}
          size={props.title.length > LONG ? 'h4' : 'h2'}
          className="wrap-anywhere page-heading"
          dir="auto"
          ta="start"
        >
          <bdi>{props.title}</bdi>
        </Title>
        {props.hint !== undefined && (
          <Text c="dimmed" size="sm" component="div" className="wrap-anywhere">
            {props.hint}
          </Text>
        )}
      </Stack>
      <Box>
        <Group gap="xs">{props.children}</Group>
      </Box>
    </Group>
  )
}
