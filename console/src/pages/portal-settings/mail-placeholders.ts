import type { MailType } from '../../api/portal/portal-settings.ts'

const EVERYWHERE = ['name', 'email', 'organisation'] as const

/** What may stand between `{{` and `}}` in each mail; the dashboard refuses anything else. */
export const PLACEHOLDERS: Readonly<Record<MailType, readonly string[]>> = {
  welcome_email: EVERYWHERE,
  key_email: [...EVERYWHERE, 'api', 'key', 'client_id', 'secret', 'link'],
  reset_password_email: [...EVERYWHERE, 'link'],
}

/** What stands in for the developer in a preview. */
const SAMPLE: Readonly<Record<string, string>> = {
  name: 'Ada Lovelace',
  email: 'ada@partner.example',
  organisation: 'Acme',
  api: 'Orders',
  key: 'f3b1…',
  client_id: 'ledger-app',
  secret: '••••••••',
  link: 'https://portal.example/portal/…',
}

/** A text with samples in the place of the placeholders; unknown ones stay, to be seen. */
export function sampled(text: string, organisation: string): string {
  const values: Readonly<Record<string, string>> = { ...SAMPLE, organisation }
  return text.replace(/\{\{\s*([a-z_]{1,32})\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : whole,
  )
}
