import type { MailType } from '../../api/portal/portal-settings.ts'

const EVERYWHERE = ['name', 'email', 'organisation'] as const

/** The placeholders of each mail; the dashboard refuses others. */
export const PLACEHOLDERS: Readonly<Record<MailType, readonly string[]>> = {
  welcome_email: EVERYWHERE,
  key_email: [...EVERYWHERE, 'api', 'key', 'client_id', 'secret', 'link'],
  reset_password_email: [...EVERYWHERE, 'link'],
}

/** The sample developer of a preview. */
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

/** A text with samples for the placeholders; unknown ones stay visible. */
export function sampled(text: string, organisation: string): string {
  const values: Readonly<Record<string, string>> = { ...SAMPLE, organisation }
  return text.replace(/\{\{\s*([a-z_]{1,32})\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : whole,
  )
}
