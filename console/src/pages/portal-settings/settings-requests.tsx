import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { MailWarningIcon } from 'lucide-react'
import { readSignInOptions, SIGN_IN_OPTIONS_KEY } from '../../api/people/endpoints.ts'
import type { PortalSettings } from '../../api/portal/portal-settings.ts'
import type { Field, FormValues } from '../../parts/forms/record-form.tsx'
import { checkWebAddress } from '../../parts/portal/checks.ts'
import { say } from '../../texts/say.ts'
import { asFields, namesField, namesOf } from '../developers/names-input.tsx'
import { SettingsForm } from './settings-form.tsx'

const MEMBERS = [
  'key_request_fields',
  'require_key_approval',
  'secure_key_approval',
  'redirect_on_key_request',
  'redirect_to',
  'enable_multi_selection',
  'oauth_usage_limit',
] as const

/** How developers get keys. */
export function SettingsRequests({ settings }: { readonly settings: PortalSettings }) {
  return (
    <SettingsForm
      settings={settings}
      members={MEMBERS}
      fields={FIELDS}
      toForm={(part) => ({
        approval: part.require_key_approval,
        secure: part.secure_key_approval,
        multi: part.enable_multi_selection,
        redirects: part.redirect_on_key_request,
        redirectTo: part.redirect_to,
        limited: part.oauth_usage_limit >= 0,
        limit: Math.max(part.oauth_usage_limit, 0),
        fields: namesOf(part.key_request_fields),
      })}
      fromForm={(values, loaded) => ({
        require_key_approval: values.approval === true,
        secure_key_approval: values.secure === true,
        enable_multi_selection: values.multi === true,
        redirect_on_key_request: values.redirects === true,
        redirect_to: String(values.redirectTo).trim(),
        oauth_usage_limit: values.limited === true ? Number(values.limit) : -1,
        key_request_fields: asFields(
          (values.fields as readonly string[]).map((name) => name.trim()),
          loaded.key_request_fields,
        ),
      })}
    />
  )
}

const redirects = (values: FormValues) => values.redirects === true

const FIELDS: readonly Field[] = [
  { kind: 'switch', name: 'approval', label: say('portal.approval'), hint: say('portal.approvalHint') },
  { kind: 'switch', name: 'secure', label: say('portal.secure'), hint: say('portal.secureHint') },
  {
    kind: 'part',
    name: 'secureNote',
    label: '',
    when: ({ secure }) => secure === true,
    draw: () => <NoMail />,
  },
  { kind: 'switch', name: 'multi', label: say('portal.multi'), hint: say('portal.multiHint') },
  { kind: 'switch', name: 'redirects', label: say('portal.redirects'), hint: say('portal.redirectsHint') },
  {
    kind: 'url',
    name: 'redirectTo',
    label: say('portal.redirectTo'),
    required: true,
    check: checkWebAddress,
    when: redirects,
  },
  { kind: 'switch', name: 'limited', label: say('portal.oauthLimited'), hint: say('portal.oauthLimitedHint') },
  {
    kind: 'number',
    name: 'limit',
    label: say('portal.oauthLimit'),
    hint: say('portal.oauthLimitHint'),
    min: 0,
    max: 1_000_000,
    required: true,
    when: ({ limited }) => limited === true,
  },
  namesField('fields', say('portal.requestFields'), say('portal.requestFieldsHint')),
]

/** Said where a mail would be needed and none can be sent. */
export function NoMail() {
  const { data } = useQuery({ queryKey: SIGN_IN_OPTIONS_KEY, queryFn: readSignInOptions })
  if (data === undefined || data.mail_configured) return null
  return (
    <Alert color="yellow" icon={<MailWarningIcon aria-hidden />}>
      <Text size="sm" fw={600}>
        {say('portal.noMail')}
      </Text>
      <Text size="sm">{say('portal.noMailHint')}</Text>
    </Alert>
  )
}
