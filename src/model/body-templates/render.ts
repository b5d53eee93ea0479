import { isObject, type Json, type JsonObject } from '../json/json.ts'
import { isTrue, memberOf } from './functions.ts'
import { type BodyTemplate, type Expression, TemplateFlaw, type TemplateNode, type TemplateOutput } from './parse.ts'
import {
  escapeMarkup,
  type Meter,
  ReadyText,
  type TemplateValue,
  templateJson,
  templateText,
  ValueFlaw,
} from './values.ts'

/** Longest result, in characters. */
export const MAX_RENDERED = 1_048_576
const MAX_STEPS = 200_000

/** Why a template could not be rendered: what it was given asks too much of it, or does not fit, or what came of it is no JSON. */
export class RenderFlaw extends Error {
  readonly why: 'bounds' | 'value' | 'no JSON'

  constructor(why: RenderFlaw['why'], reason: string) {
    super(reason)
    this.why = why
  }
}

/**
 * Writes a template with these values. In JSON what is printed between quotes is escaped, what is printed outside of them is JSON itself,
 * and in XML markup is escaped: so no value can become structure. In other text values are as they are. Time and size are bounded for
 * all values. @throws RenderFlaw
 */
export function renderTemplate({ nodes, source, output }: BodyTemplate, root: JsonObject): string {
  const text = new Rendering(source, output, root).write(nodes)
  if (output !== 'json' || text.trim() === '') return text
  try {
    JSON.parse(text)
  } catch (error) {
    throw new RenderFlaw('no JSON', `the template gives no JSON: ${(error as Error).message}`)
  }
  return text
}

type Choice = Extract<TemplateNode, { branches: unknown }>
type Flow = 'on' | 'break' | 'continue'

class Rendering implements Meter {
  readonly #source: string
  readonly #output: TemplateOutput
  readonly #out: string[] = []
  readonly #keys = new Map<object, readonly string[]>()
  #size = 0
  #steps = 0
  #inString = false
  readonly #variables: { readonly name: string; value: TemplateValue }[]

  constructor(source: string, output: TemplateOutput, root: JsonObject) {
    this.#source = source
    this.#output = output
    this.#variables = [{ name: '$', value: root }]
  }

  write(nodes: readonly TemplateNode[]): string {
    this.#run(nodes, this.#variables[0]!.value)
    return this.#out.join('')
  }

  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > MAX_STEPS) throw new RenderFlaw('bounds', `more than ${MAX_STEPS} steps`)
  }

  keysOf(object: { readonly [name: string]: Json }): readonly string[] {
    const known = this.#keys.get(object)
    if (known !== undefined) return known
    const keys = Object.keys(object).sort()
    this.spend(keys.length)
    this.#keys.set(object, keys)
    return keys
  }

  #run(nodes: readonly TemplateNode[], dot: TemplateValue): Flow {
    const before = this.#variables.length
    for (const node of nodes) {
      this.spend(1)
      const flow = this.#node(node, dot)
      if (flow === 'on') continue
      this.#variables.length = before
      return flow
    }
    this.#variables.length = before
    return 'on'
  }

  #node(node: TemplateNode, dot: TemplateValue): Flow {
    if (node.kind === 'text') {
      this.#put(node.text)
      this.#inString = this.#inString ? node.endsInString.inside : node.endsInString.outside
      return 'on'
    }
    if (node.kind === 'print') {
      const value = this.#value(node.value, dot)
      this.#put(this.#printed(value))
      return 'on'
    }
    if (node.kind === 'set') {
      const value = this.#value(node.value, dot)
      if (node.declares) this.#variables.push({ name: node.name, value })
      else this.#variables.findLast(({ name }) => name === node.name)!.value = value
      return 'on'
    }
    if (node.kind === 'range') return this.#range(node, dot)
    return 'branches' in node ? this.#choose(node, dot) : node.kind
  }

  #printed(value: TemplateValue): string {
    if (this.#output === 'text' || (this.#output === 'xml' && value instanceof ReadyText && value.kind === 'markup'))
      return templateText(value, this)
    if (this.#output === 'xml') return escapeMarkup(templateText(value, this))
    return this.#inString ? JSON.stringify(templateText(value, this)).slice(1, -1) : templateJson(value, this)
  }

  #put(text: string): void {
    this.#size += text.length
    if (this.#size > MAX_RENDERED) throw new RenderFlaw('bounds', `more than ${MAX_RENDERED} characters`)
    this.#out.push(text)
  }

  #choose({ kind, branches, otherwise }: Choice, dot: TemplateValue): Flow {
    for (const { test, names, body } of branches) {
      const value = this.#value(test, dot)
      if (isTrue(value, this)) return this.#within(names, [value], body, kind === 'with' ? value : dot)
    }
    return this.#run(otherwise, dot)
  }

  #range({ loop, otherwise }: TemplateNode & { kind: 'range' }, dot: TemplateValue): Flow {
    const over = this.#value(loop.test, dot)
    const entries = this.#entriesOf(over)
    if (entries.length === 0) return this.#run(otherwise, dot)
    for (const key of entries) {
      const item = memberOf(over, key)
      const flow = this.#within(loop.names, loop.names.length === 2 ? [key, item] : [item], loop.body, item)
      if (flow === 'break') break
    }
    return 'on'
  }

  /** Positions of a list, names of an object in order; nothing else can be gone through. */
  #entriesOf(over: TemplateValue): readonly (number | string)[] {
    if (over === null) return []
    if (Array.isArray(over)) {
      this.spend(over.length)
      return [...over.keys()]
    }
    if (!(over instanceof ReadyText) && isObject(over)) return this.keysOf(over)
    throw new RenderFlaw('value', '"range" wants a list or an object')
  }

  #within(
    names: readonly string[],
    values: readonly TemplateValue[],
    body: readonly TemplateNode[],
    dot: TemplateValue,
  ) {
    const before = this.#variables.length
    names.forEach((name, index) => {
      this.#variables.push({ name, value: values[index]! })
    })
    const flow = this.#run(body, dot)
    this.#variables.length = before
    return flow
  }

  #value(expression: Expression, dot: TemplateValue): TemplateValue {
    this.spend(1)
    if (expression.kind === 'value') return expression.value
    if (expression.kind === 'path') {
      const { from, names } = expression
      const start = from === '.' ? dot : this.#variables.findLast(({ name }) => name === from)!.value
      return names.reduce<TemplateValue>(memberOf, start)
    }
    if (expression.kind === 'of')
      return expression.names.reduce<TemplateValue>(memberOf, this.#value(expression.holder, dot))
    const { run, args, at } = expression
    const values = args.map((arg) => this.#value(arg, dot))
    try {
      return run.run(values, this)
    } catch (error) {
      if (!(error instanceof ValueFlaw)) throw error
      throw new RenderFlaw('value', new TemplateFlaw(this.#source, at, `${run.name} ${error.message}`).message)
    }
  }
}
