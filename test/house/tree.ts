import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'

/** One import as it is written, wherever it leads. */
export interface Import {
  readonly specifier: string
  /** `thread`: the file is started by its URL, as a worker. */
  readonly form: 'static' | 'dynamic' | 'thread' | 're-export'
  readonly typeOnly: boolean
  readonly line: number
  /** Path from the root of the tree of the file that a relative specifier names. */
  readonly target: string | undefined
}

export interface SourceFile {
  /** From the root of the tree, with `/`. */
  readonly path: string
  readonly text: string
  readonly lines: readonly string[]
  readonly imports: readonly Import[]
}

const CODE = /\.(?:ts|tsx|mts|cts|js|mjs|cjs)$/
const LEFT_OUT = new Set(['node_modules', 'dist', '.git'])

/** Reads every code file below the folders named, sorted by path. A folder that is not there has none. */
export function readTree(root: string, folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => walk(join(root, folder)))
    .map((path) => path.slice(root.length + 1).replaceAll(sep, '/'))
    .sort()
    .map((path) => readSource(path, readFileSync(join(root, path), 'utf8')))
}

function walk(folder: string): string[] {
  let entries: ReturnType<typeof list>
  try {
    entries = list(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : walk(path)
    return CODE.test(entry.name) ? [path] : []
  })
}

const list = (folder: string) => readdirSync(folder, { withFileTypes: true })

function readSource(path: string, text: string): SourceFile {
  return { path, text, lines: text.replace(/\n$/, '').split('\n'), imports: readImports(path, text) }
}

// The formatter puts every static import and export at the start of a line, in single quotes: these forms are all there are.
const FORMS: readonly { form: Import['form']; pattern: RegExp }[] = [
  { form: 'static', pattern: /^import (?<type>type )?(?:[^'"`;]*? from )?'(?<specifier>[^'\n]+)'/gm },
  { form: 're-export', pattern: /^export (?<type>type )?(?:\*|\{)[^'"`;]*? from '(?<specifier>[^'\n]+)'/gm },
  { form: 'dynamic', pattern: /(?<type>typeof )?\bimport\(\s*['"`](?<specifier>[^'"`\n]+)['"`]/gm },
  { form: 'thread', pattern: /(?<type>)\bnew URL\(\s*'(?<specifier>\.[^'\n]+)',\s*import\.meta\.url/gm },
]
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

function readImports(path: string, text: string): Import[] {
  // blanked, not cut out, so that lines keep their numbers
  const code = text.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ' '))
  return FORMS.flatMap(({ form, pattern }) =>
    [...code.matchAll(pattern)].map((match) => {
      const specifier = match.groups!.specifier!
      const typeOnly = match.groups!.type !== undefined && match.groups!.type !== '' ? true : onlyTypesNamed(match[0])
      const line = code.slice(0, match.index).split('\n').length
      return { specifier, form, typeOnly, line, target: resolve(path, specifier) }
    }),
  )
}

/** `import { type A, type B } from`: nothing of it is there at run time but the module itself. */
function onlyTypesNamed(statement: string): boolean {
  const names = /\{([^}]*)\}/.exec(statement)?.[1]
  if (names === undefined || /^import \w/.test(statement)) return false
  const list = names.split(',').map((name) => name.trim())
  return list.some((name) => name !== '') && list.every((name) => name === '' || name.startsWith('type '))
}

function resolve(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(dirname(path), specifier) : undefined
}
