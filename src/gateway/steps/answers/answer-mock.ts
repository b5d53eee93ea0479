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
    const answer = mock.fixed ?? choose(x, mock, (part) => askedFor(x, part, words))
    return 'body' in answer ? replies.get(answer)! : answer
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
): MockExample | Fault {
  const asked = askedOf('code')
  const status = asked === undefined ? mock.status || mock.examples[0]!.status : statusOf(asked)
  const ofStatus = mock.examples.filter((example) => example.status === status)
  if (ofStatus.length === 0) return NO_EXAMPLE
  const name = askedOf('name') ?? mock.name
  const named = name === '' ? ofStatus : ofStatus.filter((example) => example.name === name)
  if (named.length === 0) return NO_EXAMPLE
  const types = [...new Set(named.map((example) => example.mediaType))]
  // The preferred example comes first, for callers that accept any.
  types.sort((a, b) => Number(b === mock.mediaType) - Number(a === mock.mediaType))
  const type = preferredType(x.request.all('accept').join(','), types)
  return named.find((example) => example.mediaType === type) ?? NO_TYPE
}
