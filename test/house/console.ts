import type { SourceFile } from './tree.ts'

/** The address of a call, and what it puts into its path: an encoded value, or what a function with a name as `pathOf` makes. */
const ADDRESS = /`\/(?:api|admin|portal|svc)\/[^`]*`/g
const UNENCODED = /\$\{(?!encodeURIComponent\(|\w+Of\()[^}]*\}/

/** Calls of the console whose addresses hold a value as it is: one with a slash or a question mark would reach another call. */
export function checkAddresses({ path, lines }: SourceFile): string[] {
  if (!path.startsWith('console/src/')) return []
  return lines.flatMap((line, at) =>
    (line.match(ADDRESS) ?? []).some((address) => UNENCODED.test(address))
      ? [`${path}:${at + 1} puts a value into an address as it is: encode it`]
      : [],
  )
}

const TEXT = /^ {2}'(?<name>[a-zA-Z][\w.]*)':/gm
/** A literal, or the beginning of a name that is put together. */
const USED = /'(?<whole>[a-zA-Z][\w.]*)'|`(?<start>[a-zA-Z][\w.]*)\$\{/g

/** Texts of the console that nothing shows. One in the singular belongs to the text of its name without `One`. */
export function checkTexts(files: readonly SourceFile[]): string[] {
  const own = files.filter(({ path }) => path.startsWith('console/src/'))
  const whole = new Set<string>()
  const starts = new Set<string>()
  for (const { text } of own.filter(({ path }) => !path.startsWith('console/src/texts/')))
    for (const { groups } of text.matchAll(USED)) {
      if (groups?.whole !== undefined) whole.add(groups.whole)
      else starts.add(groups!.start!)
    }
  const isUsed = (name: string) =>
    whole.has(name) || (name.endsWith('One') && whole.has(name.slice(0, -'One'.length))) || beginsWith(name, starts)
  return own.flatMap(({ path, text }) =>
    path.startsWith('console/src/texts/')
      ? [...text.matchAll(TEXT)].flatMap(({ groups }) =>
          isUsed(groups!.name!) ? [] : [`${path}: nothing shows ${groups!.name}`],
        )
      : [],
  )
}

function beginsWith(name: string, starts: ReadonlySet<string>): boolean {
  for (let at = name.length; at > 0; at--) if (starts.has(name.slice(0, at))) return true
  return false
}
