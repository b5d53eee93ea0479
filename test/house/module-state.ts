import type { SourceFile } from './tree.ts'

/** A declaration of a module that is not within a function or class: it begins at the margin. */
const DECLARATION = /^(?:export )?(?<word>const|let|var) (?<name>[A-Za-z_$][\w$]*)(?:(?::.*?)? =(?<value>.*)$|:|$)/
/** Classes of the platform and of ours whose instances nothing changes. */
const UNCHANGING =
  /^(?:Text(?:De|En)coder|RegExp|URL|URLPattern|Fault|Error|Date|Intl\.\w+|Proxy|\w+Array|Ajv|SampleBlock)\b/
const COLLECTION = /^(?:Map|Set)\b/
/** The comment that owns up to it says why it may stay: who shares it, and why no caller can tell. */
const REASON = /\bModule state\b/

/**
 * State of modules in `src` without a comment that gives the reason: services found through a module instead of being made where the
 * process is composed and passed by name. Tables that nothing writes are no state.
 */
export function checkModuleState({ path, text, lines }: SourceFile): string[] {
  if (!path.startsWith('src/')) return []
  return lines.flatMap((line, i) => {
    const { word, name = '', value = '' } = DECLARATION.exec(line)?.groups ?? {}
    if (name === '' || !isState(word!, name, value.trim() || (lines[i + 1] ?? '').trim(), text)) return []
    if (REASON.test(commentAbove(lines, i))) return []
    return [
      `${path}:${i + 1} ${name} is state of the module: pass it by name, or say "Module state: ..." and why it may stay`,
    ]
  })
}

function isState(word: string, name: string, value: string, text: string): boolean {
  if (word !== 'const') return true
  const made = /^new ([\w.]+)/.exec(value)?.[1]
  const isWritten = new RegExp(
    String.raw`(?<![\w$.])${name.replaceAll('$', '\\$')}(?:\.(?:set|add|delete|clear|push|pop|shift|unshift|splice|sort|fill|copy|length =)\b|\[[^\]\n]*\] (?:[-+*/|&^]|\|\||\?\?)?=[^=])`,
  ).test(text)
  if (made === undefined) return isWritten && /^(?:\[|\{|Buffer\.|structuredClone|Array)/.test(value)
  if (/^Weak/.test(made)) return true
  if (COLLECTION.test(made)) return isWritten
  if (UNCHANGING.test(made)) return isWritten
  return true
}

function commentAbove(lines: readonly string[], at: number): string {
  let to = at
  // One comment may be for neighbours: a buffer and the place in it.
  while (DECLARATION.test(lines[to - 1] ?? '')) to--
  let from = to
  while (/^\s*(?:\/\*\*?|\*|\/\/)/.test(lines[from - 1] ?? '')) from--
  return lines.slice(from, to).join(' ')
}
