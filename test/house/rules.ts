import { checkAddresses, checkTexts } from './console.ts'
import { checkCycles } from './cycles.ts'
import { checkExports } from './exports.ts'
import { checkFlatFiles, checkFolderSizes } from './folders.ts'
import { checkDependencies, checkLayers } from './layers.ts'
import { checkModuleState } from './module-state.ts'
import { checkFirstWords, checkNamedFiles, checkProse, checkTitles } from './prose.ts'
import type { SourceFile } from './tree.ts'
import { checkDeclaredOnce, checkWords } from './words.ts'

/** One rule of the house. `check` answers a line for each place that breaks it. */
export interface Rule {
  readonly name: string
  check(files: readonly SourceFile[], manifest: { readonly dependencies: Readonly<Record<string, string>> }): string[]
}

const MAX_LINES = 500
const EMPTY_NAMES = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'shared',
  'types',
  'services',
  'misc',
  'lib',
])
const EMPTY_ENDINGS = /[A-Za-z0-9](?:Manager|Helper|Helpers|Util|Utils|Service|Impl|Provider|Base)$/
const EMPTY_FILE_ENDINGS = /-(?:manager|helpers?|utils?|service|impl|provider|base)$/
/** Servers of stores say some failures by the beginning of a text alone. */
const OF_STORES = /^src\/store\/(?:redis|postgres)\//
const ERROR = String.raw`(?:\b(?:error|cause|found|original|refusal|reason)|\b\w*[fF]ault(?:\([^()]*\))?)\??\.(?:message|detail)`
const ACTS_ON_TEXT = new RegExp(
  String.raw`${ERROR}\??\.(?:includes|startsWith|endsWith|match|search|indexOf)\(|${ERROR} [!=]== ['"\`]|\.test\([^()]*${ERROR}`,
)
const VENDOR_WORDS = 'src/model/apis/definition/vendor-words.ts'
/** A list of aliases that goes elsewhere than into the functions of that file, a comparison with our word, a name made of a word. */
const COMPARES_WORD =
  /(?<!\breadonly |'compat\.)\bvendor_aliases\b(?!.*`)(?<!\b(?:ownWords|toOwnWords|wordIn|answeredWord|withMatchingOf)\(.*vendor_aliases)|[!=]== 'svc'|`x-\$\{\w+\}-api-gateway/
/** `read-auth.ts`, `vite.config.ts`, `sign-in.deep.test.ts`. */
const KEBAB_FILE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)+$/
const DECLARATION =
  /^\s*(?:export )?(?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|function\*?|const|let) ([A-Za-z_$][\w$]*)/
const EXPORTED_FUNCTION =
  /^export (?:async )?(?:function\*? (?<name>\w+)|const (?<constant>\w+)(?:: [^=]+)? = (?:async )?(?:function\b|<|\([^)]*\)(?:: [^=]+)? =>|\w+ =>))/

/** A rule that looks at one file at a time. */
const each = (name: string, check: (file: SourceFile) => string[]): Rule => ({
  name,
  check: (files) => files.flatMap(check),
})

export const RULES: readonly Rule[] = [
  { name: 'parts import only what is below them, and packages stay within their fence', check: checkLayers },
  {
    name: 'src imports only dependencies',
    check: (files, { dependencies }) => checkDependencies(files, Object.keys(dependencies)),
  },
  { name: 'no imports in circles', check: checkCycles },
  each("a vendor's word is compared and renamed in one place", ({ path, lines }) =>
    !path.startsWith('src/') || path.startsWith('src/config/') || path === VENDOR_WORDS
      ? []
      : lines.flatMap((line, at) => (COMPARES_WORD.test(line) ? [`${path}:${at + 1} compares a vendor's word`] : [])),
  ),
  each('no barrels', ({ path, lines, imports, text }) => {
    const star = /^export \*/m.test(text)
    const passesOn = imports.some(({ form }) => form === 're-export')
    const ownLines = lines.filter((line) => DECLARATION.test(line)).length
    return star || /\/index\.\w+$/.test(path) || (passesOn && ownLines === 0)
      ? [`${path} only passes on what others export`]
      : []
  }),
  each('values in addresses of calls are encoded', checkAddresses),
  { name: 'every text of the console is shown', check: checkTexts },
  each('files of at most 500 lines', ({ path, lines }) =>
    lines.length > MAX_LINES ? [`${path} has ${lines.length} lines, more than ${MAX_LINES}`] : [],
  ),
  each('names of files and folders say what is in them', ({ path }) => {
    const names = path.split('/').map((name) => name.split('.')[0]!)
    const empty = names.filter((name) => EMPTY_NAMES.has(name.toLowerCase()) || EMPTY_FILE_ENDINGS.test(name))
    return empty.map((name) => `${path}: "${name}" says nothing`)
  }),
  each('names of files are kebab-case', ({ path }) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    return KEBAB_FILE.test(name) ? [] : [`${path} is not named in kebab-case`]
  }),
  { name: 'at most 30 files directly in a folder, 40 of tests', check: checkFolderSizes },
  { name: 'a folder holds files or folders, not both', check: checkFlatFiles },
  each('names in code say what they name', ({ path, lines }) =>
    lines.flatMap((line, i) => {
      const name = DECLARATION.exec(line)?.[1] ?? ''
      return EMPTY_ENDINGS.test(name) ? [`${path}:${i + 1} ${name} has an ending that says nothing`] : []
    }),
  ),
  each('names use the words of the field', checkWords),
  each('comments and texts are plain English', checkProse),
  each('comments begin with the thing that they are about', checkFirstWords),
  { name: 'files that comments name exist', check: checkNamedFiles },
  each('titles of tests are one clause', checkTitles),
  { name: 'an exported name of src has one declaration', check: checkDeclaredOnce },
  each('modules of src hold no state, or say why', checkModuleState),
  each('relative imports keep their ending', ({ path, imports }) =>
    imports
      .filter(({ target, form }) => target !== undefined && form !== 'thread')
      .filter(({ specifier }) => !/\.(?:tsx?|mjs|json|css)$/.test(specifier))
      .map(({ specifier, line }) => `${path}:${line} imports ${specifier} without its ending`),
  ),
  each('no default exports', ({ path, lines }) =>
    path.startsWith('src/')
      ? lines.flatMap((line, i) => (line.startsWith('export default') ? [`${path}:${i + 1} has a default export`] : []))
      : [],
  ),
  { name: 'what the product exports is used by it', check: checkExports },
  each('nothing acts on the text of an error', ({ path, lines }) =>
    /^(?:src|console\/src)\//.test(path) && !OF_STORES.test(path)
      ? lines.flatMap((line, i) => (ACTS_ON_TEXT.test(line) ? [`${path}:${i + 1} acts on the text of an error`] : []))
      : [],
  ),
  each('exported functions of src say what they do', ({ path, lines }) =>
    path.startsWith('src/') ? lines.flatMap((line, i) => missingDocstring(path, lines, line, i)) : [],
  ),
]

function missingDocstring(path: string, lines: readonly string[], line: string, at: number): string[] {
  const match = EXPORTED_FUNCTION.exec(line)
  const before = lines[at - 1]?.trim() ?? ''
  if (match === null || before.endsWith('*/')) return []
  const name = match.groups!.name ?? match.groups!.constant!
  // an overload: the first one of the name has the docstring
  if (new RegExp(`^export (?:async )?function\\*? ${name}\\b`).test(before)) return []
  return [`${path}:${at + 1} ${name} has no docstring`]
}
