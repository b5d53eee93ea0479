import type { PortalSettings } from '../../api/portal/portal-settings.ts'
import type { Field } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { asFields, namesField, namesOf } from '../developers/names-input.tsx'
import { SettingsForm } from './settings-form.tsx'

const MEMBERS = [
  'disable_signup',
  'disable_login',
  'disable_auto_login',
  'catalogue_login_only',
  'signup_fields',
] as const

/** Who may sign up and sign in, and what a sign-up asks for. */
export function SettingsAccess({ settings }: { readonly settings: PortalSettings }) {
  return (
    <SettingsForm
      settings={settings}
      members={MEMBERS}
      fields={FIELDS}
      toForm={(part) => ({
        signup: !part.disable_signup,
        login: !part.disable_login,
        autoLogin: !part.disable_auto_login,
        loginOnly: part.catalogue_login_only,
        fields: namesOf(part.signup_fields),
      })}
      fromForm={(values, loaded) => ({
        disable_signup: values.signup !== true,
        disable_login: values.login !== true,
        disable_auto_login: values.autoLogin !== true,
        catalogue_login_only: values.loginOnly === true,
        signup_fields: asFields((values.fields as readonly string[]).map(trim), loaded.signup_fields),
      })}
    />
  )
}

const trim = (text: string) => text.trim()

const FIELDS: readonly Field[] = [
  { kind: 'switch', name: 'signup', label: say('portal.signup'), hint: say('portal.signupHint') },
  {
    kind: 'switch',
    name: 'autoLogin',
    label: say('portal.autoLogin'),
    hint: say('portal.autoLoginHint'),
    when: ({ signup }) => signup === true,
  },
  { kind: 'switch', name: 'login', label: say('portal.login'), hint: say('portal.loginHint') },
  { kind: 'switch', name: 'loginOnly', label: say('portal.loginOnly'), hint: say('portal.loginOnlyHint') },
  namesField('fields', say('portal.signupFields'), say('portal.signupFieldsHint')),
]
