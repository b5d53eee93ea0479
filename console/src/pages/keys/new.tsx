import { Paper } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { apiKey, readApi } from '../../api/apis.ts'
import { createBasicUser, createKey, KEYS_KEY, type KeyMade, type KeySession, type Rights } from '../../api/keys.ts'
import { useAddress } from '../../app/address.ts'
import { FaultBox } from '../../parts/fault-box.tsx'
import { Guarded } from '../../parts/guarded.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { type Field, type FormValues, RecordForm } from '../../parts/record-form.tsx'
import { say } from '../../texts/say.ts'
import { keyFields } from './key-fields.tsx'
import { KeyOnce } from './key-once.tsx'
import { sessionOf, valuesOf } from './key-values.ts'

const ABSENT = { api: '', policy: '' } as const
const isUser = ({ kind }: FormValues) => kind === 'user'

const HEAD_FIELDS: readonly Field[] = [
  {
    kind: 'choice',
    name: 'kind',
    label: say('keys.kind'),
    hint: say('keys.kindHint'),
    choices: [
      { value: 'key', label: say('keys.kindKey') },
      { value: 'user', label: say('keys.kindUser') },
    ],
  },
  {
    ...{ kind: 'text', name: 'userName', label: say('keys.userName'), hint: say('keys.userNameHint') },
    ...{ required: true, when: isUser, autoComplete: 'off' },
  },
  {
    ...{ kind: 'password', name: 'password', label: say('keys.password'), required: true, when: isUser },
    autoComplete: 'new-password',
  },
]

const CUSTOM_FIELD: Field = {
  ...{ kind: 'text', name: 'custom', label: say('keys.custom'), hint: say('keys.customHint'), autoComplete: 'off' },
  when: (values) => !isUser(values),
}

/** A new key or basic-auth user; the address may name an API or a policy to begin with. */
export default function NewKey() {
  return (
    <>
      <PageHead title={say('keys.new')} />
      <Guarded permission="keys" intent="write">
        <Begun />
      </Guarded>
    </>
  )
}

function Begun() {
  const [{ api, policy }] = useAddress(ABSENT)
  const { data, error, refetch } = useQuery({
    queryKey: apiKey(api),
    queryFn: ({ signal }) => readApi(api, signal),
    enabled: api !== '',
  })
  if (error !== null) return <FaultBox error={error} retry={() => void refetch()} />
  if (api !== '' && data === undefined) return null
  const rights: Rights =
    data === undefined
      ? {}
      : { [data.id]: { api_id: data.id, api_name: data.name, versions: ['Default'], allowed_urls: [], limit: null } }
  return <Form begun={{ access_rights: rights, ...(policy !== '' && { apply_policies: [policy] }) }} />
}

function Form({ begun }: { readonly begun: KeySession }) {
  const [made, setMade] = useState<KeyMade>()
  const navigate = useNavigate()
  const client = useQueryClient()
  return (
    <Paper withBorder p="lg" maw={820}>
      <RecordForm
        guarded
        fields={[...HEAD_FIELDS, ...keyFields({}), CUSTOM_FIELD]}
        initial={{ ...valuesOf(begun), kind: 'key', userName: '', password: '', custom: '' }}
        verb={say('keys.create')}
        done={''}
        submit={async (values) => {
          const session = sessionOf(values, {})
          if (!isUser(values)) return createKey(session, String(values.custom).trim())
          const user = await createBasicUser(String(values.userName), String(values.password), session)
          return { ...user, key_id: '' }
        }}
        onCancel={() => void navigate({ to: '/keys' })}
        onDone={(answer) => {
          void client.invalidateQueries({ queryKey: KEYS_KEY })
          const key = answer as KeyMade
          // A user's password is what was typed: there is nothing to show.
          if (key.key_id === '') void navigate({ to: `/keys/${key.key_hash}` })
          else setMade(key)
        }}
      />
      <KeyOnce made={made} title={say('keys.made')} onDone={() => void navigate({ to: `/keys/${made?.key_hash}` })} />
    </Paper>
  )
}
