import { fault } from '../../errors/fault.ts'
import { isBodiless } from '../../wire/http1/answer.ts'
import type { BodyFilter } from '../../wire/http1/exchange.ts'
import { FIELD } from '../../wire/http1/fields.ts'
import { codingOf } from '../compression/decode.ts'
import type { Exchange } from '../server/exchange.ts'
import { type Hidden, hideFromLists } from './hide-from-lists.ts'

/** Largest message that is read; an answer with a larger one is not passed on. */
const MAX_BYTES = 4_194_304

const JSON_TYPE = /^application\/(?:[^;,\s]+\+)?json[ \t]*(?:;|$)/i
const EVENTS_TYPE = /^text\/event-stream[ \t]*(?:;|$)/i
/** Fields that speak of the very bytes of the upstream's body. */
const OF_THE_BYTES = ['accept-ranges', 'content-digest', 'content-md5', 'digest', 'etag', 'repr-digest']
/** A part of an answer, or a coded one, cannot be read. */
const ASKS_ELSE = ['accept-encoding', 'range', 'if-range']
const NOTHING = Buffer.alloc(0)

/** Has lists in the answer of the upstream name only what can be asked for. */
export function filterLists(x: Exchange, hidden: Hidden): void {
  const before = x.bodyFilter instanceof ToolListFilter ? x.bodyFilter.hidden : undefined
  x.bodyFilter = new ToolListFilter(before === undefined ? hidden : both(before, hidden))
  if (before !== undefined) return
  for (const name of ASKS_ELSE) x.request.drop(name)
  x.requestExtra += 'Accept-Encoding: identity\r\n'
}

/**
 * The head of an answer has come, which may be the answer to another attempt: settles how its body is read. One that holds no messages passes as it is.
 * @throws Fault `answer_untransformable` where messages are coded, or a part of them
 */
export function beginLists(x: Exchange): void {
  if (!(x.bodyFilter instanceof ToolListFilter)) return
  const { bodyFilter } = x
  const form = formOf(x)
  if (form === undefined) {
    x.bodyFilter = undefined
    return
  }
  checkWhole(x)
  for (const name of OF_THE_BYTES) x.response.drop(name)
  bodyFilter.begin(form)
}

/** The same for an answer that was read whole, without its coding. */
export function filterWhole(x: Exchange, bytes: Buffer): Buffer {
  const form = x.bodyFilter instanceof ToolListFilter ? formOf(x) : undefined
  if (form === undefined) return bytes
  const filter = new ToolListFilter((x.bodyFilter as ToolListFilter).hidden)
  filter.begin(form)
  return filter.filter(bytes, 0, bytes.length, true)
}

function both(a: Hidden, b: Hidden): Hidden {
  return {
    isHiddenTool: (name) => a.isHiddenTool(name) || b.isHiddenTool(name),
    otherPrimitives: a.otherPrimitives || b.otherPrimitives,
  }
}

type Form = 'json' | 'events'

function formOf(x: Exchange): Form | undefined {
  if (x.status === 101 || isBodiless(x.status)) return undefined
  const type = x.response.known(FIELD.contentType) ?? ''
  if (JSON_TYPE.test(type)) return 'json'
  return EVENTS_TYPE.test(type) ? 'events' : undefined
}

function checkWhole(x: Exchange): void {
  const coding = codingOf(x.response)
  if (coding !== '')
    throw fault(
      'answer_untransformable',
      `it is encoded as ${coding} although identity was asked for: tools/list cannot be read`,
    )
  if (x.status === 206)
    throw fault('answer_untransformable', 'it is a part, which was not asked for: tools/list cannot be read')
}

interface Line {
  readonly text: string
  /** Its line break; '' at the end of a body. */
  readonly end: string
}

/** Reads the messages of an answer as they come. Events go out as soon as they are whole, everything else of a stream at once. */
class ToolListFilter implements BodyFilter {
  readonly hidden: Hidden
  holdsHead = false
  #rest = ''
  /** Of a stream: the carriage return behind `#rest`, whose line feed may come with the next part; else ''. */
  #return = ''
  /** Lines of the event that is coming, from its first line of data on. */
  #event: Line[] = []
  #eventBytes = 0

  constructor(hidden: Hidden) {
    this.hidden = hidden
  }

  begin(form: Form): void {
    this.holdsHead = form === 'json'
    this.#rest = ''
    this.#return = ''
    this.#event = []
    this.#eventBytes = 0
  }

  filter(chunk: Buffer, from: number, to: number, last: boolean): Buffer {
    const text = this.#return + chunk.toString('latin1', from, to)
    if (this.#rest.length + text.length + this.#eventBytes > MAX_BYTES)
      throw fault('answer_too_large', `a message has more than ${MAX_BYTES} bytes`)
    if (this.holdsHead) {
      this.#rest += text
      return last ? Buffer.from(hideFromLists(this.#rest, this.hidden), 'latin1') : NOTHING
    }
    const made = this.#lines(text, last)
    return made === '' ? NOTHING : Buffer.from(made, 'latin1')
  }

  /** Takes the lines that are whole; answers the text that goes out. Searches what came now alone: each search of a long rest would copy it. */
  #lines(text: string, last: boolean): string {
    this.#return = ''
    let made = ''
    let at = 0
    for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
      if (end === '\r' && index === text.length - 1 && !last) {
        this.#return = end
        break
      }
      made += this.#line({ text: this.#rest + text.slice(at, index), end })
      this.#rest = ''
      at = index + end.length
    }
    this.#rest += text.slice(at, text.length - this.#return.length)
    // Readers drop an event that no empty line ends; others might not.
    return last ? made + this.#line({ text: this.#rest, end: '' }) + this.#takeEvent() : made
  }

  #line(line: Line): string {
    if (line.text === '') return this.#takeEvent() + line.end
    if (this.#event.length === 0 && !isData(line)) return line.text + line.end
    this.#event.push(line)
    this.#eventBytes += line.text.length + line.end.length
    return ''
  }

  /** The event that is whole now, without what is hidden. Readers join its lines of data. */
  #takeEvent(): string {
    const lines = this.#event
    if (lines.length === 0) return ''
    this.#event = []
    this.#eventBytes = 0
    const data = lines.filter(isData).map(dataOf).join('\n')
    const made = hideFromLists(data, this.hidden)
    const others = made === data ? lines : lines.filter((line) => !isData(line))
    const edited =
      made === data ? [] : made.split('\n').map((text) => ({ text: `data: ${text}`, end: lines[0]!.end || '\n' }))
    return [...edited, ...others].map(({ text, end }) => text + end).join('')
  }
}

const isData = ({ text }: Line) => /^(?:\xef\xbb\xbf)?data(?::|$)/.test(text)
const dataOf = ({ text }: Line) => text.slice(text.indexOf('data') + 'data'.length).replace(/^: ?/, '')
