import type { Certificate } from '../../api/platform/certificates.ts'
import { say } from '../../texts/say.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
const MONTH_MS = 30 * DAY_MS

/** The `CN` of a name that holds one attribute in each line, else the whole name. */
export function commonName(name: string): string {
  return /^CN=(.*)$/m.exec(name)?.[1] ?? name.replaceAll('\n', ', ')
}

/** The name of a certificate. */
export function certificateName({ subject, dns_names: names, fingerprint }: Certificate): string {
  return commonName(subject) || names[0] || fingerprint.slice(0, 16)
}

/** How soon a certificate ends, in words and as a colour. */
export function endingOf(
  { not_after: after, not_before: before }: Certificate,
  now: number,
): { readonly text: string; readonly color: string; readonly isGrave: boolean } {
  const leftMs = Date.parse(after) - now
  if (leftMs <= 0) return { text: say('certificates.ended'), color: 'red', isGrave: true }
  if (Date.parse(before) > now) return { text: say('certificates.notYet'), color: 'blue', isGrave: false }
  if (leftMs < WEEK_MS) return { text: say('certificates.critical'), color: 'red', isGrave: true }
  if (leftMs < MONTH_MS) return { text: say('certificates.soon'), color: 'yellow', isGrave: false }
  return { text: say('certificates.good'), color: 'teal', isGrave: false }
}
