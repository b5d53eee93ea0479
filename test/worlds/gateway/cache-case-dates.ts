/** Fields of a case of the cache suites: several of one name as a list. */
export type CaseHeaders = Readonly<Record<string, string | readonly string[]>>

/**
 * The fields of a case with dates in place of seconds (`+60`, `-60 upper`): `Date` and `Expires` count from `now`, dates of changes from `base`,
 * the beginning of the case.
 */
export function datedFields<Fields extends CaseHeaders>(headers: Fields, now: number, base: number): Fields {
  const date = (name: string, value: string) => {
    const from = /^(?:date|expires)$/i.test(name) ? now : /modified/i.test(name + value) ? base : undefined
    const [, seconds, form = ''] = /^([+-]\d+)(?: (\w+))?$/.exec(value) ?? []
    if (from === undefined || seconds === undefined) return value
    const text = new Date(from + Number(seconds) * 1000).toUTCString()
    return form === 'upper' ? text.toUpperCase() : form === 'lower' ? text.toLowerCase() : text
  }
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? date(name, value) : value.map((each) => date(name, each)),
  ])
  return Object.fromEntries(entries) as Fields
}
