import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const TEXTS = join(import.meta.dirname, 'src', 'texts')
/** Files of the folder that are no areas: the first two are there from the start, the others hold no texts, or gather them. */
const NO_AREAS: readonly string[] = ['shell.ts', 'start.ts', 'say.ts', 'loaded-texts.ts', 'areas.ts', 'grants.ts']
const ID = 'area-texts:'

/** Files of texts by the first word of their names: `apis` of `apis.name`. */
export function readAreas(folder: string = TEXTS): ReadonlyMap<string, readonly string[]> {
  const areas = new Map<string, string[]>()
  for (const file of readdirSync(folder).filter((name) => !NO_AREAS.includes(name))) {
    const words = readFileSync(join(folder, file), 'utf8').matchAll(/^ {2}'(\w+)\./gm)
    for (const word of new Set([...words].map(([, first]) => first!)))
      areas.set(word, [...(areas.get(word) ?? []), file])
  }
  return areas
}

/** The files of texts that a module names texts of, whole or by their beginning (`apis.tab.${name}`). */
export function areasNamed(code: string, areas: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const words = [...code.matchAll(/['"`](\w+)\.[\w$]/g)].map(([, first]) => first!)
  return [...new Set(words.flatMap((word) => areas.get(word) ?? []))].sort()
}

/**
 * Lets each module import the texts that it names, so that a page loads those of its own areas and no others. They are there
 * before the module runs: it may say them at once.
 */
export function textsByArea(): Plugin {
  const areas = readAreas()
  return {
    name: 'texts-by-area',
    enforce: 'pre',
    resolveId: (id) => (id.startsWith(ID) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${ID}`)) return undefined
      const file = join(TEXTS, id.slice(ID.length + 1))
      const loaded = join(TEXTS, 'loaded-texts.ts')
      return [
        `import * as area from ${JSON.stringify(file)}`,
        `import { LOADED } from ${JSON.stringify(loaded)}`,
        'Object.assign(LOADED, ...Object.values(area))',
      ].join('\n')
    },
    transform(code, id) {
      const [path = ''] = id.split('?')
      if (!/\.tsx?$/.test(path) || !path.includes('/console/src/') || path.includes('/src/texts/')) return undefined
      const named = areasNamed(code, areas)
      if (named.length === 0) return undefined
      // Behind everything else, so that lines keep their numbers: imports run first wherever they are.
      return { code: `${code}\n${named.map((file) => `import '${ID}${file}'`).join('\n')}\n`, map: null }
    },
  }
}
