import { Accordion, Alert, Badge, Card, Code, Group, Stack, Table, Text, Title } from '@mantine/core'
import { SendIcon, TriangleAlertIcon } from 'lucide-react'
import type { TryAnswer as Answer, TryResult } from '../../../api/apis/try-it.ts'
import { Copy, CopyBlock } from '../../../parts/display/copy.tsx'
import { Empty } from '../../../parts/display/empty.tsx'
import { duration } from '../../../parts/display/when.tsx'
import { say } from '../../../texts/say.ts'

/** Shown before a request is sent. */
export function TryNothing() {
  return (
    <Card withBorder padding="lg">
      <Empty icon={SendIcon} title={say('try.nothing')} hint={say('try.nothingHint')} />
    </Card>
  )
}

/** The answer to a request: status, time, body, headers, and the command that sends the same. */
export function TryAnswer({ tried, curl }: { readonly tried: TryResult; readonly curl: string }) {
  const { answer } = tried
  return (
    <Card withBorder padding="lg" component="section">
      <Group gap="sm" mb="sm">
        <Title order={2} size="h4">
          {say('try.answer')}
        </Title>
        {answer !== null && (
          <Badge size="lg" variant="dot" color={colourOf(answer.status)} tt="none">
            {answer.status}
          </Badge>
        )}
        <Text size="sm" c="dimmed">
          {say('try.took', { time: duration(tried.duration_ms) })}
        </Text>
      </Group>
      {answer === null ? (
        <Alert color="red" icon={<TriangleAlertIcon aria-hidden />} title={say('try.trouble')}>
          {tried.trouble}
        </Alert>
      ) : (
        <Body answer={answer} />
      )}
      <Accordion mt="md" variant="separated">
        {answer !== null && (
          <Accordion.Item value="headers">
            <Accordion.Control>{say('try.answerHeaders')}</Accordion.Control>
            <Accordion.Panel>
              <Headers answer={answer} />
            </Accordion.Panel>
          </Accordion.Item>
        )}
        <Accordion.Item value="curl">
          <Accordion.Control>{say('try.curl')}</Accordion.Control>
          <Accordion.Panel>
            <CopyBlock value={curl} label={say('try.curl')} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Card>
  )
}

function Body({ answer }: { readonly answer: Answer }) {
  if (answer.body === '')
    return (
      <Text size="sm" c="dimmed">
        {say('try.emptyBody')}
      </Text>
    )
  const notes = [
    ...(answer.body_encoding === 'base64' ? [say('try.binary')] : []),
    ...(answer.body_cut ? [say('try.cut')] : []),
  ]
  return (
    <Stack gap="xs">
      <Code block mah="26rem" tabIndex={0} aria-label={say('try.answerBody')} style={{ overflow: 'auto' }}>
        {shownBody(answer)}
      </Code>
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {notes.join(' ')}
        </Text>
        <Copy value={answer.body} />
      </Group>
    </Stack>
  )
}

const LONGEST_SHOWN = 100_000

/** JSON in lines; what is very long is shown from its beginning, and copied whole. */
function shownBody({ body, body_cut: isCut }: Answer): string {
  if (body.length > LONGEST_SHOWN) return `${body.slice(0, LONGEST_SHOWN)}…`
  if (isCut || !/^\s*[[{]/.test(body)) return body
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function Headers({ answer }: { readonly answer: Answer }) {
  return (
    <Table aria-label={say('try.answerHeaders')} layout="fixed">
      <Table.Tbody>
        {answer.headers.map(({ name, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice with the same value, and the list never changes
          <Table.Tr key={at}>
            <Table.Th scope="row" w="40%" className="wrap-anywhere">
              {name}
            </Table.Th>
            <Table.Td className="wrap-anywhere">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function colourOf(status: number): string {
  if (status >= 500) return 'red'
  if (status >= 400) return 'orange'
  return status >= 300 ? 'blue' : 'teal'
}
