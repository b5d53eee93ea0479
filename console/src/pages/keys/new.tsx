import { Paper } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createBasicUser, createKey, KEYS_KEY, type KeySession, type Rights } from '../../api/access/keys.ts'
import { apiKey, readApi } from '../../api/apis/apis.ts'
import { useAddress } from '../../app/address.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { type Field, type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { keyFields } from './key-fields.tsx'
import { KeyOnce, type KeyShown } from './key-once.tsx'
import { withProofs } from './key-proofs.ts'
import { sessionOf, valuesOf } from './key-values.ts'

const ABSENT = { api: '', policy: '' } as const
const isUser = ({ kind }: FormValues) => kind === 'user'
const isCertificate = ({ kind }: FormValues) => kind === 'certificate'

const HEAD_FIELDS: readonly Field[] = [
  {
    kind: 'choice',
    name: 'kind',
    label: say('keys.kind'),
    hint: say('keys.kindHint'),
    choices: [
      { value: 'key', label: say('keys.kindKey') },
      { value: 'user', label: say('keys.kindUser') },
      { value: 'certificate', label: say('keys.kindCertificate') },
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
  {
    ...{ kind: 'text', name: 'certificate', label: say('keys.certificate'), hint: say('keys.certificateHint') },
    ...{ required: true, when: isCertificate, autoComplete: 'off' },
    check: (value) => (/[0-9a-f]{64}$/i.test(String(value).trim()) ? undefined : say('keys.certificateWanted')),
  },
]

const CUSTOM_FIELD: Field = {
  ...{ kind: 'text', name: 'custom', label: say('keys.custom'), hint: say('keys.customHint'), autoComplete: 'off' },
  when: ({ kind }) => kind === 'key',
}

/** A new key, basic-auth user or client certificate; the address may name an API or a policy to begin with. */
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
  const [made, setMade] = useState<KeyShown>()
  const navigate = useNavigate()
  const client = useQueryClient()
  return (
    <Paper withBorder p="lg" maw={820}>
      <RecordForm
        guarded
        fields={[...HEAD_FIELDS, ...keyFields({}), CUSTOM_FIELD]}
        initial={{ ...valuesOf(begun), kind: 'key', userName: '', password: '', certificate: '', custom: '' }}
        verb={say('keys.create')}
        done={''}
        submit={async (values): Promise<KeyShown> => {
          const session = withProofs(sessionOf(values, {}), values, {})
          if (isCertificate(values)) return createKey(session)
          if (!isUser(values))
            return { ...(await createKey(session, String(values.custom).trim())), secret: session.hmac_string }
          const user = await createBasicUser(String(values.userName), String(values.password), session)
          return { ...user, key_id: '' }
        }}
        onCancel={() => void navigate({ to: '/keys' })}
        onDone={(answer) => {
          void client.invalidateQueries({ queryKey: KEYS_KEY })
          const key = answer as KeyShown
          // Of a user and of a certificate there is nothing to show that was not typed.
          if (key.key_id === '') void navigate({ to: `/keys/${key.key_hash}` })
          else setMade(key)
        }}
      />
      <KeyOnce made={made} title={say('keys.made')} onDone={() => void navigate({ to: `/keys/${made?.key_hash}` })} />
    </Paper>
  )
}
