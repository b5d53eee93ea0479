import type { SourceFile } from './tree.ts'

const EXPORTED_VALUE = /^export (?:abstract )?(?:async )?(?:class|function\*?|const|let) (?<name>[A-Za-z_$][\w$]*)/gm
const PRODUCT = /^(?:src|console\/src)\//

/** What tests need and the product does not, each with the reason. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  FakeClock: 'the double of the clock, which stands beside it so that both keep one shape',
}

/** Exported values of the product that no other file imports, and those that nothing but tests uses. Types cost nothing. */
export function checkExports(files: readonly SourceFile[]): string[] {
  const importers = new Map<string, SourceFile[]>()
  for (const file of files)
    for (const target of new Set(file.imports.map((use) => use.target)))
      if (target !== undefined) importers.set(target, [...(importers.get(target) ?? []), file])
  return files.filter(({ path }) => PRODUCT.test(path)).flatMap((file) => idleExports(file, importers))
}

function idleExports({ path, text }: SourceFile, importers: ReadonlyMap<string, readonly SourceFile[]>): string[] {
  return [...text.matchAll(EXPORTED_VALUE)].flatMap(({ groups }) => {
    const name = groups!.name!
    if (Object.hasOwn(FOR_TESTS, name)) return []
    const word = new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g')
    const users = (importers.get(path) ?? []).filter((other) => other.text.search(word) !== -1)
    if (users.length === 0) return [`${path} exports ${name}, which no other file imports`]
    const isUsed = users.some((user) => !user.path.startsWith('test/')) || [...text.matchAll(word)].length > 1
    return isUsed ? [] : [`${path} exports ${name}, which only tests use`]
  })
}
