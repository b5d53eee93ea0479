import { SegmentedControl, Stack } from '@mantine/core'
import { MAIL_TYPES, type PortalSettings } from '../../api/portal/portal-settings.ts'
import { useAddress } from '../../app/address.ts'
import type { Field } from '../../parts/forms/record-form.tsx'
import { checkEmail } from '../../parts/portal/checks.ts'
import { say } from '../../texts/say.ts'
import { MailForm } from './mail-form.tsx'
import { SettingsForm } from './settings-form.tsx'
import { NoMail } from './settings-requests.tsx'

const ABSENT = { mail: 'from' }

/** Who mails come from, and how each is worded. */
export function SettingsMail({ settings }: { readonly settings: PortalSettings }) {
  const [{ mail }, setAddress] = useAddress(ABSENT)
  const sort = MAIL_TYPES.find((one) => one === mail)
  return (
    <Stack>
      <NoMail />
      <SegmentedControl
        aria-label={say('portal.whichMail')}
        value={sort ?? 'from'}
        onChange={(to) => setAddress({ mail: to })}
        data={['from' as const, ...MAIL_TYPES].map((value) => ({ value, label: say(`portal.mail.${value}`) }))}
        style={{ alignSelf: 'flex-start', maxWidth: '100%' }}
        styles={{ root: { flexWrap: 'wrap' } }}
        withItemsBorders={false}
      />
      {sort === undefined ? <From settings={settings} /> : <MailForm key={sort} sort={sort} settings={settings} />}
    </Stack>
  )
}

function From({ settings }: { readonly settings: PortalSettings }) {
  return (
    <SettingsForm
      settings={settings}
      members={['mail_options', 'email']}
      fields={FIELDS}
      toForm={({ mail_options, email }) => ({
        name: mail_options.mail_from_name,
        address: mail_options.mail_from_email,
        email,
      })}
      fromForm={({ name, address, email }, loaded) => ({
        email: String(email).trim(),
        mail_options: {
          ...loaded.mail_options,
          mail_from_name: String(name).trim(),
          mail_from_email: String(address).trim(),
        },
      })}
    />
  )
}

const FIELDS: readonly Field[] = [
  { kind: 'text', name: 'name', label: say('portal.fromName'), hint: say('portal.fromNameHint') },
  {
    kind: 'email',
    name: 'address',
    label: say('portal.fromAddress'),
    hint: say('portal.fromAddressHint'),
    check: checkEmail,
  },
  {
    kind: 'email',
    name: 'email',
    label: say('portal.contact'),
    hint: say('portal.contactHint'),
    check: checkEmail,
  },
]
