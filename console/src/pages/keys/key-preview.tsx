import { Card, Group, Loader, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { KEYS_KEY, type KeySession, previewKey } from '../../api/access/keys.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import type { FormValues } from '../../parts/forms/record-form.tsx'
import { RightsTable } from '../../parts/tables/rights-table.tsx'
import { say } from '../../texts/say.ts'
import { hasAccess, sessionOf } from './key-values.ts'

const PAUSE_MS = 400

/** The effective access of a key, from the dashboard, while its form is filled in. */
export function KeyPreview({ values, before }: { readonly values: FormValues; readonly before: KeySession }) {
  const wanted = hasAccess(values) ? JSON.stringify(sessionOf(values, before)) : ''
  const [session] = useDebouncedValue(wanted, PAUSE_MS)
  const { data, error, isFetching } = useQuery({
    queryKey: [...KEYS_KEY, 'preview', session],
    queryFn: ({ signal }) => previewKey(JSON.parse(session) as KeySession, signal),
    enabled: session !== '',
    placeholderData: keepPreviousData,
  })
  return (
    <Card withBorder padding="md" component="section" aria-label={say('keys.preview')}>
      <Stack gap="xs">
        <Group gap="xs">
          <Text fw={600}>{say('keys.preview')}</Text>
          {isFetching && <Loader size="xs" aria-hidden />}
        </Group>
        {wanted === '' ? (
          <Text size="sm" c="dimmed">
            {say('keys.previewNothing')}
          </Text>
        ) : error === null ? (
          data && <RightsTable rights={data.access_rights ?? {}} label={say('keys.preview')} isPlan />
        ) : (
          <FaultBox error={error} />
        )}
      </Stack>
    </Card>
  )
}
