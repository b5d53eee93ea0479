import { Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { KEYS_KEY, readKey } from '../../api/access/keys.ts'
import { useMay } from '../../api/people/session.ts'
import { readCalledApi } from '../../api/traffic/home.ts'
import { CopyBlock } from '../../parts/display/copy.tsx'
import { callCommand } from '../../parts/display/curl.ts'
import { say } from '../../texts/say.ts'

/** A command that calls an API with a new key, of those that the key has access to. Nothing where there is none that takes keys. */
export function KeyCall({ hash, value }: { readonly hash: string; readonly value: string }) {
  const mayRead = useMay('apis')
  const [picked, setPicked] = useState<string>()
  const access = useQuery({
    queryKey: [...KEYS_KEY, 'new', hash],
    queryFn: async ({ signal }) => Object.values((await readKey(hash, signal)).data.access_rights ?? {}),
    enabled: mayRead,
  })
  const apiId = picked ?? access.data?.[0]?.api_id
  const called = useQuery({
    queryKey: [...KEYS_KEY, 'called', apiId],
    queryFn: ({ signal }) => readCalledApi(apiId!, signal),
    enabled: apiId !== undefined,
  })
  if (apiId === undefined || called.data?.keyField === undefined) return null
  const apis = access.data ?? []
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {say('keys.callIt')}
      </Text>
      {apis.length > 1 && (
        <Select
          aria-label={say('keys.callWhich')}
          value={apiId}
          allowDeselect={false}
          searchable
          limit={100}
          data={apis.map(({ api_id, api_name }) => ({ value: api_id, label: api_name || api_id }))}
          onChange={(id) => setPicked(id ?? undefined)}
        />
      )}
      <CopyBlock value={callCommand(called.data, value)} label={say('keys.callCommand')} />
    </Stack>
  )
}
