// Renders the Helm chart without Helm: the part of Go's templates that the chart uses, and nothing else.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const CHART = join(import.meta.dirname, '../deploy/helm/gatehouse')
const TEMPLATES = join(CHART, 'templates')

type Value = unknown
interface Tree {
  readonly [name: string]: Value
}
interface Action {
  readonly words: string
  readonly body: readonly Part[]
  readonly otherwise: readonly Part[]
}
type Part = string | Action
interface Reader {
  readonly tokens: readonly string[]
  at: number
}

/** The chart's default values, with some replaced: `{ gateway: { replicas: 5 } }`. */
export function chartValues(own: Tree = {}): Tree {
  return merged(parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')), own)
}

/** The manifests of a release, as `helm template NAME` writes them but for its `# Source` lines. `service`: who manages them. */
export function renderChart(release: string, own: Tree = {}, service = 'Helm'): string {
  const { name, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))
  const dot = {
    Values: chartValues(own),
    Release: { Name: release, Namespace: 'default', Service: service },
    Chart: { Name: name, AppVersion: appVersion },
  }
  const named = new Map<string, readonly Part[]>()
  const files = readdirSync(TEMPLATES).sort()
  const parsed = files.map((file) => parseTemplate(readFileSync(join(TEMPLATES, file), 'utf8'), named))
  return files
    .flatMap((file, i) => (file.endsWith('.yaml') ? [render(parsed[i]!, dot, named).trim()] : []))
    .map((text) => `${text}\n`)
    .join('---\n')
}

function merged(below: Tree, own: Tree): Tree {
  const entries = Object.entries(own).map(([name, value]) => {
    const before = below[name]
    return [name, isTree(before) && isTree(value) ? merged(before, value) : value]
  })
  return { ...below, ...Object.fromEntries(entries) }
}

function isTree(value: Value): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Templates that the text defines go into `named`. @throws Error for what the chart must not use */
function parseTemplate(text: string, named: Map<string, readonly Part[]>): readonly Part[] {
  const tokens: string[] = []
  let last = 0
  let trims = false
  const addText = (piece: string, trimEnd: boolean) => {
    const front = trims ? piece.trimStart() : piece
    tokens.push(trimEnd ? front.trimEnd() : front)
  }
  for (const match of text.matchAll(/\{\{(-?)([\s\S]*?)(-?)\}\}/g)) {
    addText(text.slice(last, match.index), match[1] === '-')
    tokens.push(match[2]!.trim())
    trims = match[3] === '-'
    last = match.index + match[0].length
  }
  addText(text.slice(last), false)
  const reader = { tokens, at: 0 }
  const { parts, end } = parseParts(reader, named)
  if (end !== '') throw new Error(`unexpected ${end}`)
  return parts
}

/** Texts and actions take turns in the tokens. */
function parseParts(reader: Reader, named: Map<string, readonly Part[]>): { parts: Part[]; end: string } {
  const parts: Part[] = []
  while (reader.at < reader.tokens.length) {
    parts.push(reader.tokens[reader.at++]!)
    const words = reader.tokens[reader.at++]
    if (words === undefined) break
    if (words === 'end' || words === 'else') return { parts, end: words }
    if (words.startsWith('/*')) continue
    if (!/^(?:if|with|define) /.test(words)) {
      parts.push({ words, body: [], otherwise: [] })
      continue
    }
    const body = parseParts(reader, named)
    const otherwise = body.end === 'else' ? parseParts(reader, named).parts : []
    if (words.startsWith('define ')) named.set(JSON.parse(words.slice('define '.length)), body.parts)
    else parts.push({ words, body: body.parts, otherwise })
  }
  return { parts, end: '' }
}

function render(parts: readonly Part[], dot: Value, named: Map<string, readonly Part[]>): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const [, kind, condition] = /^(if|with) (.*)$/s.exec(part.words) ?? []
      if (kind === undefined) return textOf(evaluate(part.words, dot, named))
      const value = evaluate(condition!, dot, named)
      if (!isTrue(value)) return render(part.otherwise, dot, named)
      return render(part.body, kind === 'with' ? value : dot, named)
    })
    .join('')
}

function evaluate(expression: string, dot: Value, named: Map<string, readonly Part[]>): Value {
  const words = expression.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|]+/g) ?? []
  let at = 0
  const operand = (): Value => {
    const word = words[at++]!
    if (word === '(') {
      const value = pipeline()
      at++
      return value
    }
    if (word.startsWith('"')) return JSON.parse(word)
    if (/^\d+$/.test(word)) return Number(word)
    if (!word.startsWith('.')) throw new Error(`the chart must not use ${word}`)
    const names = word.split('.').filter((name) => name !== '')
    return names.reduce<Value>((value, name) => {
      if (!isTree(value) || !(name in value)) throw new Error(`nothing is called ${word}`)
      return value[name]
    }, dot)
  }
  const command = (piped: readonly Value[]): Value => {
    const own = FUNCTIONS[words[at] ?? '']
    if (own === undefined && words[at] !== 'include') return operand()
    const name = words[at++]
    const given: Value[] = []
    while (at < words.length && words[at] !== '|' && words[at] !== ')') given.push(operand())
    const all = [...given, ...piped]
    if (own !== undefined) return own(...all)
    const body = named.get(String(all[0]))
    if (body === undefined) throw new Error(`${name} ${all[0]}: there is no such template`)
    return render(body, all[1], named)
  }
  const pipeline = (): Value => {
    let value = command([])
    while (words[at] === '|') {
      at++
      value = command([value])
    }
    return value
  }
  return pipeline()
}

const FUNCTIONS: Readonly<Record<string, (...given: Value[]) => Value>> = {
  quote: (value) => JSON.stringify(textOf(value)),
  default: (otherwise, value) => (isTrue(value) ? value : otherwise),
  not: (value) => !isTrue(value),
  printf: (format, ...values) => String(format).replaceAll('%s', () => textOf(values.shift())),
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  nindent: (width, text) => `\n${textOf(text).replace(/^(?=.)/gm, ' '.repeat(Number(width)))}`,
}

function isTrue(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isTree(value)) return Object.keys(value).length > 0
  return Boolean(value)
}

function textOf(value: Value): string {
  return value === undefined || value === null ? '' : String(value)
}
