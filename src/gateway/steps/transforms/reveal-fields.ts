import type { Api, AuthRules } from '../../../model/apis/definition/api.ts'
import { isReadSpelling } from '../../../wire/http1/fields.ts'
import type { Step } from '../../server/exchange.ts'

/**
 * Shows the fields from which an API reads its credential or version, where their names have other characters than letters, digits and `-`:
 * all others of the kind stay hidden. undefined where no such name is read.
 */
export function revealFields(api: Api): Step | undefined {
  const names = revealedNames(api)
  if (names.length === 0) return undefined
  return function revealFields(x) {
    if (x.request.hidden > 0) for (const name of names) x.request.reveal(name)
    return undefined
  }
}

/** Says of a lower-case name whether requests of an API never show such a field. `takesUnderscores`: this node takes names with `_`. */
export function hiddenNames(api: Api, takesUnderscores: boolean): (name: string) => boolean {
  const revealed = new Set(revealedNames(api))
  return (name) => !revealed.has(name) && ((!takesUnderscores && name.includes('_')) || isReadSpelling(name))
}

function revealedNames({ auth, versioning }: Api): readonly string[] {
  const version = versioning?.location === 'header' ? [versioning.key.toLowerCase()] : []
  return [...new Set([...credentialHeaders(auth), ...version])].filter((name) => /[^a-z0-9-]/.test(name))
}

/** Lower-case names of the headers that any scheme reads a credential from. */
function credentialHeaders(auth: AuthRules | undefined): readonly string[] {
  if (auth === undefined) return []
  return [auth, ...(auth.alternatives ?? []).flat()].flatMap(({ header }) => header ?? [])
}
