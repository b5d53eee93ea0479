import { Table, Text, Title } from '@mantine/core'
import type { RequestRecord } from '../../api/traffic/requests.ts'
import { milliseconds } from '../../parts/display/when.tsx'
import { say } from '../../texts/say.ts'

/** The steps of the gateway that a request passed, with their times. */
export function Steps({ record: { Steps: steps, ErrorCode: code } }: { readonly record: RequestRecord }) {
  if (steps.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {say('requests.noSteps')}
      </Text>
    )
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {say('requests.steps')}
      </Title>
      <Table aria-label={say('requests.steps')} fz="sm" withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say('requests.step')}</Table.Th>
            <Table.Th ta="end">{say('requests.stepStart')}</Table.Th>
            <Table.Th ta="end">{say('requests.took')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {steps.map(({ Name: name, AtMs: at, Ms: took }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and a step may be in it twice
            <Table.Tr key={i}>
              <Table.Td fw={i === steps.length - 1 && code !== '' ? 700 : undefined}>{stepTitle(name)}</Table.Td>
              <Table.Td ta="end" className="number">
                {milliseconds(at)}
              </Table.Td>
              <Table.Td ta="end" className="number">
                {milliseconds(took)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

/** `takePermits` as people read it: Take permits. */
function stepTitle(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
