import { FileInputIcon, type LucideIcon, PlusIcon } from 'lucide-react'
import { mayDo, type Session } from '../api/people/session.ts'
import type { TextName } from '../texts/say.ts'

interface Action {
  readonly to: string
  readonly text: TextName
  readonly icon: LucideIcon
  readonly may: (session: Session) => boolean
}

const writes = (permission: string) => (session: Session) => mayDo(session, permission, 'write')

/** The actions of the command bar. */
export const ACTIONS: readonly Action[] = [
  { to: '/apis/new', text: 'shell.newApi', icon: PlusIcon, may: writes('apis') },
  { to: '/apis/new?from=openapi', text: 'shell.importApi', icon: FileInputIcon, may: writes('apis') },
  { to: '/policies/new', text: 'shell.newPolicy', icon: PlusIcon, may: writes('policies') },
  { to: '/keys/new', text: 'shell.newKey', icon: PlusIcon, may: writes('keys') },
  { to: '/developers/new', text: 'shell.newDeveloper', icon: PlusIcon, may: writes('portal') },
  { to: '/users/new', text: 'shell.newUser', icon: PlusIcon, may: writes('users') },
  { to: '/groups/new', text: 'shell.newGroup', icon: PlusIcon, may: writes('user_groups') },
  { to: '/identity/new', text: 'shell.newIdentity', icon: PlusIcon, may: writes('idm') },
  { to: '/webhooks?new=1', text: 'shell.newWebhook', icon: PlusIcon, may: writes('hooks') },
  { to: '/certificates?new=1', text: 'shell.newCertificate', icon: PlusIcon, may: writes('certs') },
]
