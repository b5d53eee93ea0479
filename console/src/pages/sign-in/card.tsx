import { Box, Center, Paper, Stack, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'

/** The single form of a page before the console. */
export function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Gatehouse`
  }, [title])
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder shadow="sm" p="xl" w="100%" maw={420} radius="lg">
        <Stack>
          <Box component="img" src="/console/mark.svg" alt="Gatehouse" w={40} h={40} />
          <Title order={1} size="h3">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Center>
  )
}
