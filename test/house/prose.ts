import type { SourceFile } from './tree.ts'

/** Phrases that made texts read as if translated, each with what to write instead. */
const RETIRED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bwhoever\b/i, 'the noun: caller, user, client'],
  [/\bsomebody\b/i, 'the noun: user, caller, another writer'],
  [/\banew\b/i, 'again, or a verb: reset, renew, rebuild'],
  [/\bsuch as (?:are|is|do|does|have|has|can|may|must|were)\b/i, 'those that, or the noun'],
  [/\b(?:stands?|stood)\b/i, 'is, means, or the verb: state, replace'],
  [/\btold\b/i, 'report, notify, inform, receive, distinguish'],
  [/\btells? (?:apart|of)\b/i, 'distinguish, report'],
  [/\b(?:goes|go|went) on\b/i, 'continue, stay'],
  [/\bcomes? about\b/i, 'happen, the verb'],
  [/\bin the place of\b/i, 'instead of, replace'],
  [/\b(?:takes?|took) the place\b/i, 'replace'],
  [/\blets? go of\b/i, 'release, drop, close'],
  [/\bon wish\b/i, 'optional'],
  [/\blapsed?\b/i, 'expire'],
  [/\bthere is no such\b/i, '"... not found"'],
]

/** The comment in a line, without code in backticks; '' without one. */
function commentIn(line: string): string {
  const found = /^\s*(?:\/\*\*?|\*|\/\/)(.*)$|(?<=\s)\/\/ (.*)$|\/\*\*(.*)\*\//.exec(line)
  return (found?.slice(1).find((part) => part !== undefined) ?? '').replace(/`[^`]*`/g, '')
}

const TEXT = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`\n]*)`/g
const CHECKED = /^(?:src|console|scripts|bench|examples|test)\//
/** Texts that clients compare, or that are data. */
const KEPT_TEXTS: ReadonlySet<string> = new Set(['There is no such key found'])

/** Texts of more than one word in a line of code. */
function textsIn(line: string): string[] {
  return [...line.matchAll(TEXT)]
    .map(([, single, double, template]) => single ?? double ?? template ?? '')
    .filter((text) => text.includes(' ') && !KEPT_TEXTS.has(text))
    .map((text) => text.replace(/\$\{[^}]*\}/g, ''))
}

/** A comment whose first sentence has a relative clause as its subject, where the noun of the thing is wanted. */
const BEGINS_WITH_WHAT = /^\s*(?:\/\*\*?|\/\/) What\b[^?]*$/
const CONTINUES_WITH_WHAT = /^\s*\* What\b[^?]*$/

/** Comments that begin with "What": a docstring names the thing, or says what a function does. */
export function checkFirstWords({ path, lines }: SourceFile): string[] {
  if (!CHECKED.test(path) || path.startsWith('test/house')) return []
  return lines.flatMap((line, i) => {
    const isFirst =
      (BEGINS_WITH_WHAT.test(line) && !/^\s*\/\//.test(lines[i - 1] ?? '')) ||
      (CONTINUES_WITH_WHAT.test(line) && /^\s*\/\*\*?$/.test(lines[i - 1] ?? ''))
    return isFirst ? [`${path}:${i + 1} begins with "What": name the thing, or say what is done`] : []
  })
}

/** A code file that a comment names, by its path or in backticks by its name. */
const NAMED_FILE = /(?<![\w./-])((?:[\w-]+\/)+[\w-]+\.tsx?|(?<=`)[\w-]+\.tsx?(?=`))/g
const COMMENT = /^\s*(?:\/\*\*?|\*|\/\/)|(?<=\s)\/\/ /

/** Files that comments of the product name and that do not exist: a reader looks for them in vain. */
export function checkNamedFiles(files: readonly SourceFile[]): string[] {
  const paths = files.map(({ path }) => `/${path}`)
  const exists = (name: string) => paths.some((path) => path.endsWith(`/${name}`))
  return files
    .filter(({ path }) => /^(?:src|console\/src)\//.test(path))
    .flatMap(({ path, lines }) =>
      lines.flatMap((line, i) => {
        const names = COMMENT.test(line) ? [...line.matchAll(NAMED_FILE)].map(([, name]) => name!) : []
        return names
          .filter((name) => !exists(name))
          .map((name) => `${path}:${i + 1} names ${name}, which does not exist`)
      }),
    )
}

const TITLE = /(?<![\w.])(?:t\.)?(?:test|it|suite|describe)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs
/** Fits a line of a report, and one clause. What a template puts in counts as five characters. */
const LONGEST_TITLE = 90

/** Titles of tests that are more than one clause. */
export function checkTitles({ path, text }: SourceFile): string[] {
  if (!/^test\/(?!house).*\.ts$/.test(path)) return []
  return [...text.matchAll(TITLE)]
    .map((match) => ({ title: match[2]!, line: text.slice(0, match.index).split('\n').length }))
    .filter(({ title }) => title.replace(/\$\{[^}]*\}/g, '.....').length > LONGEST_TITLE)
    .map(
      ({ title, line }) =>
        `${path}:${line} has a title of ${title.length} characters: say one thing in ${LONGEST_TITLE}`,
    )
}

/** The retired phrases of a page, with its lines; code, and names in backticks or quotes, are left out. */
export function retiredPhrases(page: string): string[] {
  const prose = page.replace(/^ *```[\s\S]*?^ *```/gm, (block) => block.replace(/[^\n]/g, ''))
  return prose.split('\n').flatMap((line, i) => {
    const words = line.replace(/`[^`]*`|"[^"]*"/g, '')
    return RETIRED.flatMap(([phrase, instead]) => {
      const found = phrase.exec(words)
      return found === null ? [] : [`${i + 1} “${found[0]}”: ${instead}`]
    })
  })
}

/** Retired phrases in comments, and in texts of the server and the console. This rule and its examples hold them. */
export function checkProse({ path, lines }: SourceFile): string[] {
  if (!CHECKED.test(path) || path.startsWith('test/house')) return []
  const hasTexts = path.startsWith('src/') || path.startsWith('console/src/')
  return lines.flatMap((line, i) => {
    const comment = commentIn(line)
    const isCode = !/^\s*(?:\/\*|\*|\/\/)/.test(line)
    return [comment, ...(hasTexts && isCode ? textsIn(line) : [])].flatMap((prose) => {
      const found = RETIRED.find(([phrase]) => phrase.test(prose))
      return found === undefined ? [] : [`${path}:${i + 1} “${found[0].exec(prose)![0]}” is retired: ${found[1]}`]
    })
  })
}
