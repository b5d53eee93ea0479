import { Modal } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { KeyRoundIcon } from 'lucide-react'
import { useState } from 'react'
import {
  type Access,
  type AccessWanted,
  DEVELOPERS_KEY,
  type Developer,
  giveAccess,
} from '../../api/portal/developers.ts'
import { PORTAL_SETTINGS_KEY, readPortalSettings } from '../../api/portal/portal-settings.ts'
import { GuardedButton } from '../../parts/forms/guarded.tsx'
import { type Field, type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { policiesField } from '../../parts/portal/policy-picker.tsx'
import { say } from '../../texts/say.ts'
import { GivenAccess } from './issued-access.tsx'
import { namesOf } from './names-input.tsx'
import { pairsField, pairsOf, textsOf } from './pairs-input.tsx'

const LIVES = [
  ['0', 'portal.expiresPolicies'],
  ['86400', 'portal.expiresDay'],
  ['2592000', 'portal.expiresMonth'],
  ['7776000', 'portal.expiresQuarter'],
  ['31536000', 'portal.expiresYear'],
] as const

/** A button that makes a key or an OAuth app for a developer, and shows it once. */
export function GiveAccess({ developer }: { readonly developer: Developer }) {
  const [opened, setOpened] = useState(false)
  const [access, setAccess] = useState<Access>()
  const client = useQueryClient()
  return (
    <>
      <GuardedButton
        permission="portal"
        leftSection={<KeyRoundIcon size={16} aria-hidden />}
        onClick={() => setOpened(true)}
      >
        {say('portal.giveAccess')}
      </GuardedButton>
      <Modal opened={opened} onClose={() => setOpened(false)} title={say('portal.giveAccess')} size="lg">
        <Form
          developer={developer}
          onDone={(made) => {
            setOpened(false)
            setAccess(made)
            void client.invalidateQueries({ queryKey: DEVELOPERS_KEY })
          }}
          onCancel={() => setOpened(false)}
        />
      </Modal>
      <GivenAccess access={access} onDone={() => setAccess(undefined)} />
    </>
  )
}

function Form(props: {
  readonly developer: Developer
  readonly onDone: (access: Access) => void
  readonly onCancel: () => void
}) {
  const { data, isPending } = useQuery({
    queryKey: PORTAL_SETTINGS_KEY,
    queryFn: ({ signal }) => readPortalSettings(signal),
  })
  if (isPending) return null
  const asked = namesOf(data?.key_request_fields ?? [])
  return (
    <RecordForm
      fields={FIELDS}
      initial={{
        policies: [],
        life: '0',
        fields: pairsOf({}, asked),
        oauth: false,
        name: '',
        redirect: '',
        about: '',
      }}
      verb={say('portal.giveAccess')}
      done=""
      submit={(values) => giveAccess(props.developer.id, bodyOf(values))}
      onDone={(answer) => props.onDone(answer as Access)}
      onCancel={props.onCancel}
    />
  )
}

const isOauth = (values: FormValues) => values.oauth === true

const FIELDS: readonly Field[] = [
  policiesField(say('portal.givePolicies')),
  {
    kind: 'choice',
    name: 'life',
    label: say('portal.expires'),
    choices: LIVES.map(([value, text]) => ({ value, label: say(text) })),
    when: (values) => !isOauth(values),
  },
  pairsField('fields', say('portal.keyFields'), say('portal.keyFieldsHint')),
  { kind: 'switch', name: 'oauth', label: say('portal.isOauth'), hint: say('portal.isOauthHint') },
  { kind: 'text', name: 'name', label: say('portal.appName'), when: isOauth },
  {
    kind: 'url',
    name: 'redirect',
    label: say('portal.redirect'),
    hint: say('portal.redirectHint'),
    placeholder: 'https://app.example/callback',
    when: isOauth,
  },
  { kind: 'area', name: 'about', rows: 2, label: say('portal.appAbout'), when: isOauth },
]

function bodyOf(values: FormValues): AccessWanted {
  const life = Number(values.life)
  const base = { apply_policies: values.policies as readonly string[], fields: textsOf(values.fields) }
  if (!isOauth(values)) return { ...base, ...(life > 0 && { expires_in: life }) }
  return {
    ...base,
    client_name: String(values.name),
    app_description: String(values.about),
    oauth_info: { redirect_uri: String(values.redirect).trim() },
  }
}
