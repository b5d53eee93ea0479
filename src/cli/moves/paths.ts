import { isObject, type Json } from '../../model/json/json.ts'

/** The path of a value in a document: member names and list indexes. */
export type Path = readonly (string | number)[]

/** The value at a path; undefined when there is none. */
export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let at = value
  for (const step of path) {
    if (Array.isArray(at)) at = typeof step === 'number' ? at[step] : at[Number(step)]
    else at = isObject(at) && Object.hasOwn(at, String(step)) ? at[String(step)] : undefined
  }
  return at
}

/** A copy with another value at a path that is there. */
export function withValueAt(value: Json, path: Path, next: Json): Json {
  const [step, ...rest] = path
  if (step === undefined) return next
  if (Array.isArray(value))
    return value.map((item, index) => (index === Number(step) ? withValueAt(item, rest, next) : item))
  if (!isObject(value)) return value
  const name = String(step)
  return { ...value, [name]: withValueAt(value[name] ?? null, rest, next) }
}

/** A path as people read it: `proxy.listen_path`, `apis[0]["x-y"]`. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w$-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/**
 * The path that the checks of the product mean by their words (`access_rights.orders.limit.rate`, `a["x.y"][0]`), within the document
 * that they speak of: names may hold dots, so what is there decides. What is not there ends the path.
 */
export function pathOfWords(words: string, document: Json): Path {
  const path: (string | number)[] = []
  let [rest, at]: [string, Json | undefined] = [words, document]
  while (rest !== '') {
    const step = nextStep(rest, at)
    path.push(step.name)
    at = valueAt(at, [step.name])
    rest = rest.slice(step.length).replace(/^\./, '')
  }
  return path
}

function nextStep(rest: string, at: Json | undefined): { name: string | number; length: number } {
  const bracket = /^\[(\d+|"(?:[^"\\]|\\.)*")\]/.exec(rest)
  if (bracket !== null) {
    const inside = JSON.parse(bracket[1]!) as string | number
    return { name: inside, length: bracket[0].length }
  }
  if (isObject(at)) {
    const fits = (name: string) => name !== '' && rest.startsWith(name) && /^(?:$|[.[])/.test(rest.slice(name.length))
    const [longest] = Object.keys(at)
      .filter(fits)
      .sort((a, b) => b.length - a.length)
    if (longest !== undefined) return { name: longest, length: longest.length }
  }
  const word = /^[^.[]+/.exec(rest)?.[0] ?? rest
  return { name: Array.isArray(at) && /^\d+$/.test(word) ? Number(word) : word, length: word.length }
}
