import { Modal } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { PlusIcon } from 'lucide-react'
import { useState } from 'react'
import { type CatalogueEntry, OFFERS_KEY, searchKeylessApis, searchPolicies } from '../../api/portal/catalogue.ts'
import { useAddress } from '../../app/address.ts'
import { GuardedButton } from '../../parts/forms/guarded.tsx'
import { type Field, type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { useCatalogueChange } from './catalogue-change.ts'
import { keysOfEntries } from './entries.ts'
import { OfferSelect } from './offer-select.tsx'

const ABSENT = { entry: '', tab: 'texts' }
const PAUSE_MS = 200

/** A button that puts a policy or a keyless API into the catalogue. */
export function AddEntry({ entries }: { readonly entries: readonly CatalogueEntry[] }) {
  const [opened, setOpened] = useState(false)
  const [, setAddress] = useAddress(ABSENT)
  const change = useCatalogueChange()
  const close = () => setOpened(false)
  return (
    <>
      <GuardedButton
        permission="portal"
        leftSection={<PlusIcon size={16} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        {say('portal.addEntry')}
      </GuardedButton>
      <Modal opened={opened} onClose={close} title={say('portal.addEntry')}>
        <RecordForm
          fields={fieldsOf(entries)}
          initial={{ kind: 'policy', policy: '', api: '', name: '', show: false }}
          verb={say('portal.addEntry')}
          done={say('portal.entryAdded')}
          submit={async (values) => {
            const entry = entryOf(values)
            await change((stored) => [...stored, entry])
            return entry
          }}
          onDone={(made) => {
            close()
            const [key = ''] = keysOfEntries([made as CatalogueEntry])
            setAddress({ entry: key, tab: '' })
          }}
          onCancel={close}
        />
      </Modal>
    </>
  )
}

function fieldsOf(entries: readonly CatalogueEntry[]): readonly Field[] {
  const isPolicy = (values: FormValues) => values.kind === 'policy'
  const taken = new Set(entries.flatMap(({ policy_id, api_id }) => [policy_id, policy_id === '' ? api_id : '']))
  return [
    {
      kind: 'choice',
      name: 'kind',
      label: say('portal.entryKind'),
      choices: [
        { value: 'policy', label: say('portal.kindPolicy') },
        { value: 'api', label: say('portal.kindApi') },
      ],
    },
    {
      kind: 'part',
      name: 'policy',
      label: say('portal.policy'),
      required: true,
      when: isPolicy,
      draw: (form) => <PolicySelect taken={taken} form={form} />,
    },
    {
      kind: 'part',
      name: 'api',
      label: say('portal.api'),
      required: true,
      when: (values) => !isPolicy(values),
      draw: (form) => <ApiSelect taken={taken} form={form} />,
    },
    { kind: 'text', name: 'name', label: say('portal.entryName'), hint: say('portal.entryNameHint'), required: true },
    { kind: 'switch', name: 'show', label: say('portal.show'), hint: say('portal.showHint') },
  ]
}

type Form = Parameters<Extract<Field, { kind: 'part' }>['draw']>[0]
interface Selecting {
  readonly taken: ReadonlySet<string>
  readonly form: Form
}

function PolicySelect({ taken, form }: Selecting) {
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, PAUSE_MS)
  const { data = [] } = useQuery({
    queryKey: [...OFFERS_KEY, 'search', wanted],
    queryFn: ({ signal }) => searchPolicies(wanted, signal),
    placeholderData: keepPreviousData,
  })
  const offers = data.map(({ id, _id, name }) => ({ id: id || _id, name, taken: taken.has(id) || taken.has(_id) }))
  return <OfferSelect label={say('portal.policy')} name="policy" form={form} offers={offers} onSearch={setText} />
}

function ApiSelect({ taken, form }: Selecting) {
  const [text, setText] = useState('')
  const [wanted] = useDebouncedValue(text, PAUSE_MS)
  const { data = [] } = useQuery({
    queryKey: [...OFFERS_KEY, 'keyless', wanted],
    queryFn: ({ signal }) => searchKeylessApis(wanted, signal),
    placeholderData: keepPreviousData,
  })
  const offers = data.map(({ api_id, name }) => ({ id: api_id, name, taken: taken.has(api_id) }))
  return <OfferSelect label={say('portal.api')} name="api" form={form} offers={offers} onSearch={setText} />
}

function entryOf({ kind, policy, api, name, show }: FormValues): CatalogueEntry {
  const isPolicy = kind === 'policy'
  return {
    name: String(name).trim(),
    short_description: '',
    long_description: '',
    show: show === true,
    policy_id: isPolicy ? String(policy) : '',
    api_id: isPolicy ? '' : String(api),
    documentation: '',
    version: 'v2',
    ...(!isPolicy && { is_keyless: true }),
    config: {},
    fields: {},
    auth_type: '',
  }
}
