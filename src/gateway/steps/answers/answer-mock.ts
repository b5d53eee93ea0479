import { type Fault, prebuilt } from '../../../errors/fault.ts'
import type { MockAnswer, MockExample, MockRule } from '../../../model/apis/definition/operation.ts'
import type { Exchange, Reply, Step } from '../../server/exchange.ts'
import { fieldLines } from '../../server/field-lines.ts'
import { preferredType } from '../../server/preferred-type.ts'

const NO_EXAMPLE = prebuilt('mock_missing')
const NO_TYPE = prebuilt('mock_not_acceptable')

/** Answers operations that have a mock in the upstream's place. `words` are `svc` and the aliases of this installation. */
export function answerMock(rules: readonly (MockRule | undefined)[], words: readonly string[]): Step | undefined {
  const mocks = rules.filter((rule) => rule !== undefined)
  if (mocks.length === 0) return undefined
  // Rendered once: a mock answers as fast as anything can.
  const replies = new Map<MockAnswer, Reply>()
  for (const { fixed, ...rest } of mocks) {
    const answers = fixed === undefined && 'examples' in rest ? rest.examples : [fixed!]
    for (const answer of answers) replies.set(answer, replyOf(answer))
  }
  return function answerMock(x) {
    const mock = x.operation?.mock
    if (mock === undefined) return undefined
    if (mock.fixed !== undefined) return replies.get(mock.fixed)!
    const chosen = choose(x, mock, (part) => askedFor(x, part, words))
    if (!('example' in chosen)) return chosen
    const reply = replies.get(chosen.example)!
    return chosen.status === reply.status ? reply : { ...reply, status: chosen.status }
  }
}

function replyOf({ status, headers, body }: MockAnswer): Reply {
  return { status, fields: fieldLines(headers), body }
}

function statusOf(text: string): number {
  return /^\d{3}$/.test(text) ? Number(text) : 0
}

/** The status or the name of the example that a caller asks for; `Accept` picks its media type. */
function askedFor(x: Exchange, part: 'code' | 'name', words: readonly string[]): string | undefined {
  for (const word of words) {
    const asked = x.request.get(`x-${word}-accept-example-${part}`)
    if (asked !== undefined) return asked
  }
  return undefined
}

/** The example that the caller asks for, else the one that the definition prefers, else the first. */
function choose(
  x: Exchange,
  mock: Exclude<MockRule, { fixed: MockAnswer }>,
  askedOf: (part: 'code' | 'name') => string | undefined,
): { readonly example: MockExample; readonly status: number } | Fault {
  const asked = askedOf('code')
  const status = asked === undefined ? mock.status || mock.examples[0]!.status : statusOf(asked)
  const code = asked === undefined && mock.status === 0 ? mock.examples[0]!.code : codeFor(mock.examples, status)
  const ofStatus = mock.examples.filter((example) => example.code === code)
  if (ofStatus.length === 0) return NO_EXAMPLE
  const name = askedOf('name') ?? mock.name
  const named = name === '' ? ofStatus : ofStatus.filter((example) => example.name === name)
  if (named.length === 0) return NO_EXAMPLE
  const types = [...new Set(named.map((example) => example.mediaType))]
  // The preferred example comes first, for callers that accept any.
  types.sort((a, b) => Number(b === mock.mediaType) - Number(a === mock.mediaType))
  const type = preferredType(x.request.all('accept').join(','), types)
  const example = named.find(({ mediaType }) => mediaType === type)
  return example === undefined ? NO_TYPE : { example, status }
}

/** The member of `responses` that describes a status: itself, its range, or `default`; undefined for what is no status of an answer. */
function codeFor(examples: readonly MockExample[], status: number): string | undefined {
  if (status < 200 || status > 599) return undefined
  const range = `${Math.floor(status / 100)}XX`
  const codes = new Set(examples.map(({ code }) => code))
  return [String(status), range, range.toLowerCase(), 'default'].find((code) => codes.has(code))
}
