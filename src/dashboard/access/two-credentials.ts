import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '../../errors/fault.ts'

/** Fields that each hold one credential; those of a kind say who calls. */
const KINDS: Readonly<Record<string, string>> = {
  authorization: 'API credential',
  'x-api-key': 'API credential',
  'admin-auth': 'admin secret',
  'x-csrf-token': 'CSRF token',
}

/**
 * Refuses two fields of one name, which Node would reduce to one or join, and two different credentials of one kind: a proxy in
 * front could have read the other.
 * @throws Fault `request_malformed` (400)
 */
export function refuseTwoCredentials({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  const names = new Set<string>()
  const values = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name]! : undefined
    if (kind === undefined) continue
    const value = rawHeaders[i + 1]!.replace(/^Bearer +/i, '').trim()
    if (names.has(name) || (values.get(kind) ?? value) !== value)
      throw fault('request_malformed', `${kind} given several times: send one credential`)
    names.add(name)
    values.set(kind, value)
  }
}

/** The refusal of a request whose session and API credential belong to different users: the caller would be ambiguous. */
export function conflictingIdentities(): Fault {
  return fault('request_malformed', 'session cookie and API credential of different people: send one of them')
}
