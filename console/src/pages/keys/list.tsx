import { Group } from '@mantine/core'
import { KeyRoundIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { useAddress } from '../../app/address.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { ApiPicker } from '../../parts/forms/api-picker.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { SearchBox } from '../../parts/tables/search-box.tsx'
import { say } from '../../texts/say.ts'
import { KeyTable } from './key-table.tsx'
import { NewKey } from './new-key-button.tsx'
import { PolicyFilter } from './policy-filter.tsx'

const ABSENT = { q: '', p: '1', size: '', api: '', policy: '' } as const

/** Keys of the organisation. */
export default function Keys() {
  return (
    <>
      <PageHead title={say('keys.title')} hint={say('keys.hint')}>
        <NewKey />
      </PageHead>
      <Guarded permission="keys">
        <List />
      </Guarded>
    </>
  )
}

function List() {
  const [{ q, p, size, api, policy }, set] = useAddress(ABSENT)
  const mayReadApis = useMay('apis')
  const isFiltered = q !== '' || api !== '' || policy !== ''
  return (
    <>
      <Group mb="sm" gap="sm" grow preventGrowOverflow={false} align="flex-start">
        <SearchBox value={q} label={say('keys.search')} onSearch={(text) => set({ q: text, p: '' })} />
        {mayReadApis && (
          <ApiPicker
            label={say('keys.byApi')}
            hiddenLabel
            placeholder={say('keys.anyApi')}
            value={api}
            onPick={(picked) => set({ api: picked?.id ?? '', policy: '', p: '' })}
          />
        )}
        <PolicyFilter value={policy} onPick={(id) => set({ policy: id, api: '', p: '' })} />
      </Group>
      <KeyTable
        query={{ q, p: Number(p) || 1, ...(api !== '' && { api }), ...(policy !== '' && { policy }) }}
        size={size}
        onPage={(page) => set({ p: String(page) })}
        onSize={(next) => set({ size: next, p: '' })}
        empty={
          isFiltered ? (
            <Empty icon={KeyRoundIcon} title={say('keys.none')} hint={say('keys.noneHint')} />
          ) : (
            <Empty icon={KeyRoundIcon} title={say('keys.empty')} hint={say('keys.emptyHint')}>
              <NewKey />
            </Empty>
          )
        }
      />
    </>
  )
}
