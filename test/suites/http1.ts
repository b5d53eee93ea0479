import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { answering, type Origin, openOrigin } from '../worlds/wire/origin.ts'
import { Client, fieldOf, type Message, statusOf, turn } from '../worlds/wire/raw.ts'
import { bytesOf, CASES, type RawCase } from '../worlds/wire/raw-cases.ts'
import { type Expectation, PROBE, takeCalls } from '../worlds/wire/verdict.ts'
import { type StartedProxy, startProxy } from './proxies.ts'
import { patiently, type SuiteCase, suiteOf } from './suite.ts'

const PROBE_LINE = PROBE.slice(0, PROBE.indexOf('\r'))
/** Says which request is answered. */
const upstream = answering(({ start }) => `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Line: ${start}\r\n\r\nok`)

interface World {
  readonly proxy: StartedProxy
  readonly origin: Origin
}

interface Seen {
  /** Statuses of final answers, without that to the probe. */
  readonly statuses: readonly number[]
  /** Whole requests at the upstream. */
  readonly calls: readonly Message[]
}

/** Rows by file of cases: sections of RFC 9112, with what RFC 9110 and RFC 3986 say to the same. */
const SECTION: Readonly<Record<string, string>> = {
  'request-line': 'lines',
  target: 'targets',
  host: 'targets',
  fields: 'fields',
  framing: 'lengths',
  chunks: 'chunks',
  connection: 'connections',
}

/**
 * Cases in which the standard leaves it to the recipient whether to refuse or to repair (RFC 9112 sections 2.2, 3, 5.2, 6.1, 6.3; RFC 9110
 * sections 2.5, 4.1, 5.4, 5.5; bare characters of targets, which are in the suite of URLs), or where the rule is one of Gatehouse alone.
 */
const CHOICE = [
  /\bLF\b|\bCR\b|fold|CL\.TE|TE\.CL|with chunked|far from Content-Length|twice, equal|twice, other case|Content-Length 5,/,
  /spaces? before the (?:target|version)|leading space|trailing|tab before|separator|empty lines?|request line without/,
  /giant|kB|never ends|endless|megabyte|1 MB|\d{3,} (?:fields|trailers)|very (?:many|long)|refused (?:long )?before/,
  /(?:raw|fragment|quote|<|>|DEL|control|tab|escape|brackets|backslash|caret|backtick|bar|[{}]) .*in the (?:path|query)/,
  /HTTP\/1\.0|version HTTP\/1\.\d$|twice escaped|other scheme|is not GET|end after a whole request|CONNECT|both, both sent/,
  /^Transfer-Encoding (?:, ?chunked|chunked,)$|a tab behind it/,
]
/** Passed on rightly, and not to be distinguished from smuggling here: tunnels, HTTP/0.9, empty members of a list, and `CONTROLS`. */
const LEGAL =
  /CONNECT|no version|empty version|chunked,$|(?:control 0x\d\w|DEL|vertical tab|form feed|escape|backspace)(?: in the value)?$/
/** Characters that the upstream of the suite takes for broken framing, and RFC 9110 section 5.5 lets pass. */
const CONTROLS = /(?:control 0x\d\w|DEL|vertical tab|form feed|escape|backspace)(?: in the value)?$/

const ANSWERS = 40

/** Sends a case, then a probe, and reads all answers up to that to the probe or the end of the connection. */
async function send(one: RawCase, { proxy, origin }: World): Promise<Seen> {
  takeCalls(origin)
  origin.failures.splice(0)
  const most = Math.max(...([one.expect].flat() as readonly Expectation[]).map(({ status }) => status.length))
  const client = await Client.connect(proxy.http1)
  const statuses: number[] = []
  /** Whatever keeps an answer from coming, malformed answers among it: the verdict goes by what did come. */
  const next = () =>
    patiently('answer', proxy.patienceMs, client.answer(one.methods?.[statuses.length])).catch(() => undefined)
  try {
    client.write(bytesOf(one.send))
    if (one.end === true) client.end()
    while (statuses.length < ANSWERS) {
      if (statuses.length === most) client.write(PROBE)
      const answer = await next()
      if (answer === undefined || fieldOf(answer, 'x-line') === PROBE_LINE) break
      statuses.push(statusOf(answer))
    }
  } finally {
    client.destroy()
  }
  const allThere = async () => {
    while (origin.calls.length < origin.heads.length) await turn()
  }
  await patiently('end of requests', proxy.patienceMs, allThere()).catch(() => {})
  // Not those of requests that never end.
  const broken = origin.failures.filter((failure) => failure instanceof assert.AssertionError)
  assert.deepEqual(broken.map(String), [], 'framing at the upstream')
  return { statuses, calls: takeCalls(origin).filter(({ complete }) => complete) }
}

function judged(file: string, one: RawCase): SuiteCase<World> {
  const expected = [one.expect].flat() as readonly Expectation[]
  return {
    section: SECTION[file]!,
    name: one.name,
    async run(world) {
      const seen = await send(one, world)
      const found = expected.map((each) => complaint(each, seen))
      assert.ok(found.includes(undefined), `${found.join(' or ')}, answered ${seen.statuses}`)
    },
  }
}

/** The difference from an expectation for a proxy of any kind: as many requests are served as it says, with these bodies. */
function complaint({ status, saw = [] }: Expectation, { statuses, calls }: Seen): string | undefined {
  const served = (each: number | readonly number[]) => [each].flat().some((code) => code < 300)
  const wanted = status.filter(served).length
  const good = statuses.filter((each) => each >= 200 && each < 300).length
  if (calls.length !== saw.length) return `${calls.length} requests at the upstream instead of ${saw.length}`
  if (good !== wanted) return `${good} answers instead of ${wanted}`
  for (const [i, each] of saw.entries()) {
    const { line, body } = typeof each === 'string' ? { line: each, body: undefined } : each
    const call = calls[i]!
    if (methodOf(call.start) !== methodOf(line)) return `method ${call.start}`
    if (body !== undefined && call.body.toString('latin1') !== body) return `body ${call.body}`
  }
  return undefined
}

const methodOf = (line: string) => line.slice(0, line.indexOf(' '))

/** Whatever a proxy makes of the bytes, the upstream gets right framing, and a request for each answer that is passed on. */
function smuggling(file: string, one: RawCase): SuiteCase<World> {
  return {
    section: 'smuggling',
    name: `${file}, ${one.name}`,
    async run(world) {
      const { statuses, calls } = await send(one, world)
      // HTTP/0.9 has no status.
      const good = statuses.filter((each) => each < 300).length
      assert.ok(calls.length <= good, `${calls.length} requests at the upstream, ${good} answered`)
    },
  }
}

const isChoice = (name: string) => [...CHOICE, CONTROLS].some((pattern) => pattern.test(name))

const files = readdirSync(CASES).filter((name) => name.endsWith('.json'))
const all = files.flatMap((name) => {
  const cases = JSON.parse(readFileSync(new URL(name, CASES), 'utf8')) as RawCase[]
  return cases.map((one) => ({ file: name.slice(0, -5), one }))
})

/** RFC 9112 as a server that passes requests on. */
export const http1 = suiteOf<World>({
  name: 'HTTP/1.1',
  sections: {
    lines: 'RFC 9112 section 3: request lines',
    targets: 'RFC 9112 section 3.2: targets and `Host`',
    fields: 'RFC 9112 section 5: fields',
    lengths: 'RFC 9112 section 6: lengths of bodies',
    chunks: 'RFC 9112 section 7: chunks',
    connections: 'RFC 9112 section 9: connections',
    smuggling: 'RFC 9112 section 11.2: request smuggling',
  },
  cases: [
    ...all.filter(({ one }) => !isChoice(one.name)).map(({ file, one }) => judged(file, one)),
    ...all
      .filter(({ file, one }) => file !== 'target' && one.end !== true && !LEGAL.test(one.name))
      .map(({ file, one }) => smuggling(file, one)),
  ],
  async open(name, ending) {
    const origin = await openOrigin(ending, upstream)
    return { origin, proxy: await startProxy(name, { port: origin.port }, ending) }
  },
})
