import { Group, Text } from '@mantine/core'
import { KeyRoundIcon } from 'lucide-react'
import type { ApiView } from '../../../api/apis/apis.ts'
import { useAddress } from '../../../app/address.ts'
import { Empty } from '../../../parts/display/empty.tsx'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { SearchBox } from '../../../parts/tables/search-box.tsx'
import { say } from '../../../texts/say.ts'
import { KeyTable } from '../../keys/key-table.tsx'
import { NewKey } from '../../keys/new-key-button.tsx'

// Separate parameters: those of other tabs stay in the address.
const ABSENT = { key: '', keys: '1', size: '' } as const

/** Keys with access to an API, by themselves or by a policy. */
export default function KeysTab({ api }: { readonly api: ApiView }) {
  const [{ key, keys, size }, set] = useAddress(ABSENT)
  return (
    <Guarded permission="keys">
      <Text size="sm" c="dimmed" mb="sm">
        {say('keys.hint')}
      </Text>
      <Group mb="sm" justify="space-between" align="flex-start">
        <SearchBox value={key} label={say('keys.search')} onSearch={(text) => set({ key: text, keys: '' })} />
        <NewKey apiId={api.id} />
      </Group>
      <KeyTable
        query={{ q: key, p: Number(keys) || 1, api: api.id }}
        size={size}
        onPage={(page) => set({ keys: String(page) })}
        onSize={(next) => set({ size: next, keys: '' })}
        empty={
          key === '' ? (
            <Empty icon={KeyRoundIcon} title={say('keys.emptyApi')} hint={say('keys.emptyApiHint')} />
          ) : (
            <Empty icon={KeyRoundIcon} title={say('keys.none')} hint={say('keys.noneHint')} />
          )
        }
      />
    </Guarded>
  )
}
