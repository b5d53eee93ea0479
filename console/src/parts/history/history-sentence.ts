import type { AuditEntry } from '../../api/platform/audit.ts'

/** A member of a document that an entry changed, as its difference says. */
export interface ChangedMember {
  /** Names on the way to it, without those that every document of its kind begins with. */
  readonly name: string
  /** As JSON; undefined where there was none, or is none any more. */
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Written with each change, and so no news. */
const STAMPS: ReadonlySet<string> = new Set(['last_updated', 'updated_at'])
/** Names between a document and what people set in it. */
const WRAPPERS: ReadonlySet<string> = new Set(['definition', 'x-svc-api-gateway'])

/** The members of documents of this kind that an entry changed; none for one that was created or deleted. */
export function membersChanged({ diff = '' }: Pick<AuditEntry, 'diff'>, kind: string): readonly ChangedMember[] {
  const members = new Map<string, ChangedMember>()
  let isOurs = false
  for (const line of diff.split('\n')) {
    if (line.startsWith('@ ')) isOurs = line.startsWith(`@ ${kind} `)
    else if (isOurs && !line.startsWith('- /:') && !line.startsWith('+ /:')) readLine(line, members)
  }
  return [...members.values()].filter(({ name }) => !STAMPS.has(name))
}

function readLine(line: string, members: Map<string, ChangedMember>): void {
  const end = line.indexOf(': ')
  if (end === -1) return
  const name = nameOf(line.slice(2, end))
  const value = line.slice(end + 2)
  const known = members.get(name) ?? { name, before: undefined, after: undefined }
  members.set(name, line.startsWith('-') ? { ...known, before: value } : { ...known, after: value })
}

/** `/definition/proxy/listen_path` gives `proxy.listen_path`. */
function nameOf(pointer: string): string {
  const names = pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  while (names.length > 1 && WRAPPERS.has(names[0]!)) names.shift()
  return names.join('.')
}

/** An act of an entry, by the name of its text in the history; `other` for acts without one. */
export type Act = 'create' | 'update' | 'delete' | 'undo' | 'rotate' | 'revoke' | 'password' | 'other'

const ACTS: Readonly<Record<string, Act>> = {
  ...{ create: 'create', add: 'create', update: 'update', delete: 'delete', undo: 'undo', rotate: 'rotate' },
  ...{ revoke: 'revoke', password: 'password', key_reset: 'rotate', replace: 'update', access: 'update' },
  ...{ label: 'update', categories: 'update', webhooks: 'update' },
}

/** The act that the action of an entry names: `policy.update` is an update. */
export function actOf(action: string): Act {
  const verb = action.slice(action.lastIndexOf('.') + 1)
  return Object.hasOwn(ACTS, verb) ? ACTS[verb]! : 'other'
}
