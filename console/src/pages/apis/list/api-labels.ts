import type { ApiView } from '../../../api/apis/apis.ts'
import { say, type TextName } from '../../../texts/say.ts'
import { PROOFS, schemeForm } from '../authentication/schemes.ts'
import { textAt } from '../editor/tree.ts'

/** Where an API forwards to. */
export function upstreamOf({ classic }: Pick<ApiView, 'classic'>): string {
  return textAt(classic, ['proxy', 'target_url'])
}

/** Kinds of authentication that lists can be filtered by. */
export const AUTH_TYPES: readonly string[] = [
  'keyless',
  ...PROOFS.map((proof) => schemeForm(proof).config),
  'mutualTLS',
]

/** The name of an authentication scheme. */
export function authWord(type: string): string {
  return AUTH_TYPES.includes(type) ? say(`apis.authType.${type}` as TextName) : type
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
