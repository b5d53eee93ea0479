import { say } from '../../texts/say.ts'
import type { FormValue } from '../forms/record-form.tsx'

/** What is wrong with a mail address; the dashboard looks closer. */
export function checkEmail(value: FormValue): string | undefined {
  return /^\S+@\S+$/.test(String(value).trim()) ? undefined : say('portal.emailWrong')
}

/** What is wrong with an address of the web. */
export function checkWebAddress(value: FormValue): string | undefined {
  const url = URL.parse(String(value))
  return url !== null && /^https?:$/.test(url.protocol) ? undefined : say('portal.addressWrong')
}
