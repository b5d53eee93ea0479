import { Accordion, Anchor, Badge, Button, Code, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { count } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'
import { type Operation, type ReadDocument, readDocument } from './documentation-text.ts'
import { RenderedMarkdown } from './markdown.tsx'

const FIRST = 100
const COLOURS: Readonly<Record<string, string>> = {
  GET: 'blue',
  POST: 'green',
  PUT: 'orange',
  PATCH: 'orange',
  DELETE: 'red',
}

/** A documentation as developers read it: the operations of an OpenAPI document, else its text. */
export function DocumentationView({ type, text }: { readonly type: string; readonly text: string }) {
  if (type === 'swagger_custom_url')
    return (
      <Text size="sm">
        {say('portal.docAt')}{' '}
        <Anchor href={text.trim()} target="_blank" rel="noopener noreferrer" className="wrap-anywhere">
          {text.trim()}
        </Anchor>
      </Text>
    )
  if (type === 'graphql' || type === 'blueprint') return <Plain text={text} />
  return <OpenApi text={text} />
}

function OpenApi({ text }: { readonly text: string }) {
  const { data, error, isPending } = useQuery({
    queryKey: ['documentation-read', text],
    // A query may not answer undefined.
    queryFn: async () => (await readDocument(text)) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (isPending) return <Skeleton h={160} />
  if (error !== null) return <FaultBox error={new Error(say('portal.docBroken', { why: error.message }))} />
  if (data === null) return <Plain text={text} />
  return <Shown document={data} />
}

function Plain({ text }: { readonly text: string }) {
  return (
    <Code block mah="32rem" style={{ overflow: 'auto' }} tabIndex={0}>
      {text}
    </Code>
  )
}

function Shown({ document }: { readonly document: ReadDocument }) {
  const [most, setMost] = useState(FIRST)
  const { operations } = document
  const shown = operations.slice(0, most)
  const tags = [...new Set(shown.map(({ tag }) => tag))]
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text fw={600} className="wrap-anywhere" dir="auto">
          {document.title}
        </Text>
        <Badge variant="default" tt="none">
          {document.version}
        </Badge>
        <Text size="sm" c="dimmed">
          {say('portal.operations', { count: count(operations.length) })}
        </Text>
      </Group>
      {document.description !== '' && <RenderedMarkdown text={document.description} />}
      {tags.map((tag) => (
        <div key={tag}>
          {tag !== '' && (
            <Title order={3} size="h6" mb={6} className="wrap-anywhere">
              {tag}
            </Title>
          )}
          <Accordion variant="separated" chevronPosition="right">
            {shown
              .filter((operation) => operation.tag === tag)
              .map((operation) => (
                <OperationItem key={operation.id} operation={operation} />
              ))}
          </Accordion>
        </div>
      ))}
      {operations.length > most && (
        <Button variant="default" onClick={() => setMost(operations.length)}>
          {say('portal.allOperations', { count: count(operations.length) })}
        </Button>
      )}
    </Stack>
  )
}

function OperationItem({ operation }: { readonly operation: Operation }) {
  const { method, path, summary, isDeprecated } = operation
  return (
    <Accordion.Item value={encodeURIComponent(operation.id)}>
      <Accordion.Control>
        <Group gap="xs">
          <Badge variant="dot" color={COLOURS[method] ?? 'gray'} miw={84} ff="monospace">
            {method}
          </Badge>
          <Text size="sm" ff="monospace" className="wrap-anywhere" {...(isDeprecated && { td: 'line-through' })}>
            {path}
          </Text>
          <Text size="sm" c="dimmed" dir="auto">
            {summary}
          </Text>
          {isDeprecated && (
            <Badge size="xs" variant="default" tt="none">
              {say('portal.deprecated')}
            </Badge>
          )}
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Details operation={operation} />
      </Accordion.Panel>
    </Accordion.Item>
  )
}

function Details({ operation: { description, parameters, answers } }: { readonly operation: Operation }) {
  return (
    <Stack gap="sm">
      {description !== '' && <RenderedMarkdown text={description} />}
      {parameters.length > 0 && (
        <Lines
          label={say('portal.parameters')}
          rows={parameters.map(({ name, place, isRequired, description: about }) => [
            name,
            isRequired ? say('portal.requiredIn', { place }) : place,
            about,
          ])}
        />
      )}
      {answers.length > 0 && (
        <Lines label={say('portal.answers')} rows={answers.map(({ status, description: about }) => [status, about])} />
      )}
      {description === '' && parameters.length === 0 && answers.length === 0 && (
        <Text size="sm" c="dimmed">
          {say('portal.docNoMore')}
        </Text>
      )}
    </Stack>
  )
}

function Lines({ label, rows }: { readonly label: string; readonly rows: readonly (readonly string[])[] }) {
  return (
    <div>
      <Text size="xs" fw={600} c="dimmed">
        {label}
      </Text>
      <Table aria-label={label} fz="sm">
        <Table.Tbody>
          {rows.map((cells) => (
            <Table.Tr key={cells.join(' ')}>
              <Table.Th scope="row" w="25%" fw={500} className="wrap-anywhere">
                {cells[0]}
              </Table.Th>
              {cells.slice(1).map((cell, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                <Table.Td key={at} className="wrap-anywhere">
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
