import type { Origin } from './origin.ts'
import { type Client, fieldOf, get, type Message, statusOf } from './raw.ts'

/** One request that the upstream must have seen, whole. A text is its request line. */
export type Saw =
  | string
  | {
      readonly line: string
      readonly body?: string
      /** Lower-case names and the value of their first field. */
      readonly fields?: Readonly<Record<string, string>>
      /** Lower-case names that must not be there. */
      readonly lacks?: readonly string[]
      /** `name: value` in this order among all fields. */
      readonly lines?: readonly string[]
      /** Lower-case names that must not be among the trailers. */
      readonly noTrailers?: readonly string[]
    }

/** One outcome that the standard lets through. */
export interface Expectation {
  /** Final answers in order; a list where the standard leaves the choice. */
  readonly status: readonly (number | readonly number[])[]
  /** True when the connection must end after them; otherwise it must continue to serve. */
  readonly closes?: boolean
  readonly saw?: readonly Saw[]
  /** Request lines that the upstream may have seen begun, but never whole. */
  readonly partial?: readonly string[]
  /** Exact number of 1xx answers. */
  readonly interim?: number
}

/** The outcome of one run of one case. */
export interface Outcome {
  readonly answers: readonly Message[]
  readonly closed: boolean
  /** The upstream's record, without probes. */
  readonly calls: readonly Message[]
}

/** A request that no case sends: where it is answered, the bytes before it left nothing behind. */
export const PROBE = get('/probe')
const PROBE_LINE = 'GET /probe HTTP/1.1'

function allows(expected: number | readonly number[] | undefined, status: number): boolean {
  return typeof expected === 'number' ? expected === status : (expected?.includes(status) ?? false)
}

/**
 * Reads answers as long as an expectation that still fits wants more, then finds out whether the connection serves on
 * (a probe) or has ended.
 */
export async function observe(
  client: Client,
  expectations: readonly Expectation[],
  methods: readonly string[],
): Promise<Pick<Outcome, 'answers' | 'closed'>> {
  const answers: Message[] = []
  for (;;) {
    const fitting = expectations.filter((one) => answers.every((answer, i) => allows(one.status[i], statusOf(answer))))
    if (fitting.length === 0) return { answers, closed: false }
    const wantMore = fitting.some((one) => one.status.length > answers.length)
    const last = answers.at(-1)
    const saysClose = last !== undefined && fieldOf(last, 'connection')?.toLowerCase() === 'close'
    const mayServe = fitting.some((one) => one.closes !== true) && !saysClose
    if (!wantMore && mayServe) {
      client.write(PROBE)
      const probe = await client.answer()
      if (probe !== undefined && statusOf(probe) !== 200) answers.push(probe)
      return { answers, closed: probe === undefined }
    }
    const next = await client.answer(methods[answers.length])
    if (next === undefined) return { answers, closed: true }
    answers.push(next)
  }
}

/** Takes what the origin recorded since the last call, without probes. */
export function takeCalls(origin: Origin): Message[] {
  const calls = origin.calls.splice(0)
  origin.heads.splice(0)
  return calls.filter((call) => call.start !== PROBE_LINE)
}

/** Everything in which the outcome differs from the expectation; empty when it fits. */
export function complaints(expected: Expectation, outcome: Outcome): string[] {
  const found: string[] = []
  const statuses = outcome.answers.map(statusOf)
  const fits = statuses.length === expected.status.length && statuses.every((s, i) => allows(expected.status[i], s))
  if (!fits) found.push(`answered ${JSON.stringify(statuses)}, expected ${JSON.stringify(expected.status)}`)
  if (outcome.closed !== (expected.closes ?? false)) found.push(outcome.closed ? 'closed' : 'left open')
  for (const answer of outcome.answers) found.push(...answerComplaints(answer, expected))
  const whole = outcome.calls.filter((call) => call.complete)
  const saw = expected.saw ?? []
  if (whole.length !== saw.length) found.push(`upstream saw ${JSON.stringify(whole.map((call) => call.start))}`)
  for (const [i, one] of saw.entries()) {
    const call = whole[i]
    if (call !== undefined) found.push(...callComplaints(one, call))
  }
  for (const call of outcome.calls) {
    if (call.complete || expected.partial?.includes(call.start)) continue
    found.push(`upstream saw the beginning of ${call.start}`)
  }
  return found
}

function answerComplaints(answer: Message, expected: Expectation): string[] {
  const found: string[] = []
  if (!answer.complete) found.push('answer cut short')
  if (!/^HTTP\/1\.1 \d{3} [\t\x20-\x7e]*$/.test(answer.start)) found.push(`status line ${answer.start}`)
  const refusal = statusOf(answer) >= 400 && expected.closes === true
  if (refusal && fieldOf(answer, 'connection')?.toLowerCase() !== 'close')
    found.push('refusal without Connection: close')
  if (expected.interim !== undefined && answer.interim.length !== expected.interim) {
    found.push(`interim answers ${JSON.stringify(answer.interim)}`)
  }
  return found
}

function callComplaints(saw: Saw, call: Message): string[] {
  if (typeof saw === 'string') return saw === call.start ? [] : [`upstream saw ${call.start}, not ${saw}`]
  const found: string[] = []
  if (saw.line !== call.start) found.push(`upstream saw ${call.start}, not ${saw.line}`)
  const body = call.body.toString('latin1')
  if (saw.body !== undefined && saw.body !== body) found.push(`upstream got body ${JSON.stringify(body)}`)
  for (const [name, value] of Object.entries(saw.fields ?? {})) {
    const got = fieldOf(call, name)
    if (got !== value) found.push(`upstream got ${name}: ${JSON.stringify(got)}`)
  }
  for (const name of saw.lacks ?? []) if (fieldOf(call, name) !== undefined) found.push(`upstream got ${name}`)
  if (saw.lines !== undefined) {
    const got = call.fields.map((pair) => pair.join(': ')).filter((line) => saw.lines?.includes(line))
    if (got.join() !== saw.lines.join()) found.push(`upstream got fields ${got.join()}`)
  }
  for (const name of saw.noTrailers ?? []) {
    if (call.trailers.some(([known]) => known === name)) found.push(`upstream got trailer ${name}`)
  }
  if (call.fields.filter(([name]) => name === 'host').length !== 1) found.push('upstream got not exactly one Host')
  return found
}
