import type { ApiView } from '../../../api/apis/apis.ts'
import { say } from '../../../texts/say.ts'
import { textAt } from '../editor/tree.ts'

/** Where an API forwards to. */
export function upstreamOf({ classic }: Pick<ApiView, 'classic'>): string {
  return textAt(classic, ['proxy', 'target_url'])
}

const AUTH = {
  keyless: 'apis.auth.keyless',
  authToken: 'apis.auth.authToken',
  oauth: 'apis.auth.oauth',
  jwt: 'apis.auth.jwt',
  basic: 'apis.auth.basic',
  hmac: 'apis.auth.hmac',
  mutualTLS: 'apis.auth.mutualTLS',
} as const

/** Kinds of authentication that lists can be filtered by. */
export const AUTH_TYPES = Object.keys(AUTH) as readonly (keyof typeof AUTH)[]

/** What a kind of authentication is called. */
export function authWord(type: string): string {
  return Object.hasOwn(AUTH, type) ? say(AUTH[type as keyof typeof AUTH]) : type
}

/** A listen path made of a name: `Pet Store` gives `/pet-store/`. */
export function pathOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return `/${words || 'api'}/`
}
