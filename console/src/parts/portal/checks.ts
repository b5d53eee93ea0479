import { say } from '../../texts/say.ts'
import type { FormValue } from '../forms/record-form.tsx'

/** The error of an email address; the dashboard checks more. */
export function checkEmail(value: FormValue): string | undefined {
  return /^\S+@\S+$/.test(String(value).trim()) ? undefined : say('portal.emailWrong')
}

/** The error of a web URL. */
export function checkWebAddress(value: FormValue): string | undefined {
  const url = URL.parse(String(value))
  return url !== null && /^https?:$/.test(url.protocol) ? undefined : say('portal.addressWrong')
}
