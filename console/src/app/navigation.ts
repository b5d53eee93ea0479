import {
  BookOpenIcon,
  Building2Icon,
  ChartLineIcon,
  FileBadgeIcon,
  FileKeyIcon,
  HistoryIcon,
  HouseIcon,
  IdCardIcon,
  KeyRoundIcon,
  type LucideIcon,
  ServerIcon,
  SettingsIcon,
  ShieldCheckIcon,
  SlidersHorizontalIcon,
  TagsIcon,
  TextSearchIcon,
  TicketIcon,
  UserIcon,
  UsersIcon,
  UsersRoundIcon,
  WaypointsIcon,
  WebhookIcon,
} from 'lucide-react'
import type { Session } from '../api/people/session.ts'
import { mayDo } from '../api/people/session.ts'
import type { TextName } from '../texts/say.ts'

/** A page that the menu and the command bar lead to. */
export interface Place {
  readonly to: string
  readonly text: TextName
  readonly icon: LucideIcon
  /** Permission that the page needs; absent = everybody. */
  readonly permission?: string
}

export interface PlaceGroup {
  readonly text?: TextName
  readonly places: readonly Place[]
}

const GROUPS: readonly PlaceGroup[] = [
  {
    places: [
      { to: '/', text: 'shell.home', icon: HouseIcon },
      { to: '/apis', text: 'shell.apis', icon: WaypointsIcon, permission: 'apis' },
      { to: '/policies', text: 'shell.policies', icon: ShieldCheckIcon, permission: 'policies' },
      { to: '/keys', text: 'shell.keys', icon: KeyRoundIcon, permission: 'keys' },
      { to: '/analytics', text: 'shell.analytics', icon: ChartLineIcon, permission: 'analytics' },
      { to: '/requests', text: 'shell.requests', icon: TextSearchIcon, permission: 'log' },
    ],
  },
  {
    text: 'shell.portal',
    places: [
      { to: '/developers', text: 'shell.developers', icon: UsersIcon, permission: 'portal' },
      { to: '/key-requests', text: 'shell.keyRequests', icon: TicketIcon, permission: 'portal' },
      { to: '/catalogue', text: 'shell.catalogue', icon: BookOpenIcon, permission: 'portal' },
      { to: '/portal-settings', text: 'shell.portalSettings', icon: SlidersHorizontalIcon, permission: 'portal' },
    ],
  },
  {
    text: 'shell.people',
    places: [
      { to: '/users', text: 'shell.users', icon: UserIcon, permission: 'users' },
      { to: '/groups', text: 'shell.groups', icon: UsersRoundIcon, permission: 'user_groups' },
      { to: '/identity', text: 'shell.identity', icon: IdCardIcon, permission: 'idm' },
      { to: '/organisations', text: 'shell.organisations', icon: Building2Icon },
    ],
  },
  {
    text: 'shell.platform',
    places: [
      { to: '/audit', text: 'shell.audit', icon: HistoryIcon, permission: 'audit_logs' },
      { to: '/nodes', text: 'shell.nodes', icon: ServerIcon, permission: 'system' },
      { to: '/webhooks', text: 'shell.webhooks', icon: WebhookIcon, permission: 'hooks' },
      { to: '/certificates', text: 'shell.certificates', icon: FileBadgeIcon, permission: 'certs' },
      { to: '/signing-keys', text: 'shell.signingKeys', icon: FileKeyIcon, permission: 'oauth' },
      { to: '/labels', text: 'shell.labels', icon: TagsIcon, permission: 'apis' },
      { to: '/settings', text: 'shell.settings', icon: SettingsIcon, permission: 'system' },
    ],
  },
]

/** The menu of a person: what needs a permission that is not there is left out, and a group without pages too. */
export function menuOf(session: Session): readonly PlaceGroup[] {
  return GROUPS.map((group) => ({
    ...group,
    places: group.places.filter(({ permission }) => permission === undefined || mayDo(session, permission, 'read')),
  })).filter(({ places }) => places.length > 0)
}
