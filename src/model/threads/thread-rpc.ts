import type { MessagePort, Worker } from 'node:worker_threads'
import type { FaultCode } from '../../errors/catalog.ts'
import { Fault, toFault } from '../../errors/fault.ts'

/** A fault as it crosses threads. */
export interface PlainFault {
  readonly code: FaultCode
  readonly detail: string
  readonly waitS?: number
}

/** Whatever was thrown, in the form in which it crosses threads. */
export function plainFault(error: unknown): PlainFault {
  const { code, message, waitS } = toFault(error)
  return { code, detail: message, ...(waitS > 0 && { waitS }) }
}

/** The fault that crossed threads, to be thrown. */
export function faultOf({ code, detail, waitS }: PlainFault): Fault {
  return new Fault(code, detail, undefined, waitS)
}

/** A question as it crosses threads. */
export interface NumberedQuestion<Question> {
  readonly number: number
  readonly question: Question
}

/** The answer, or the fault, to the question of that number. */
export type NumberedAnswer<Answer> = { readonly number: number } & (
  | { readonly answer: Answer }
  | { readonly fault: PlainFault }
)

/** A thread, or a channel to one. */
type Line = MessagePort | Worker

/** When an answer is late, and what the caller gets then. */
export interface AnswerBound {
  readonly withinMs: number
  readonly late: () => Fault
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (fault: Fault) => void
}

/**
 * Asks the thread at the other end of a line, which answers with `serveThread`. Answers may come in any order; other messages may use the same
 * line as long as they have no `number`. Only an answer that is due keeps the process.
 */
export class ThreadClient<Question, Answer> {
  readonly #line: Line
  readonly #waiting = new Map<number, Waiting<Answer>>()
  #lastNumber = 0
  #ended: Fault | undefined

  constructor(line: Line) {
    this.#line = line
    const listen = (message: object) => {
      if ('number' in message) this.#settle(message as NumberedAnswer<Answer>)
    }
    if ('threadId' in line) line.on('message', listen)
    else line.on('message', listen)
    line.unref()
  }

  /** @throws the fault of the other thread, that of `bound` when no answer comes in time, that of `end` */
  ask(question: Question, bound?: AnswerBound): Promise<Answer> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise((resolve, reject) => {
      const number = ++this.#lastNumber
      let timer: NodeJS.Timeout | undefined
      if (bound !== undefined)
        timer = setTimeout(() => this.#take(number)?.reject(bound.late()), bound.withinMs).unref()
      if (this.#waiting.size === 0) this.#line.ref()
      this.#waiting.set(number, {
        resolve(answer) {
          clearTimeout(timer)
          resolve(answer)
        },
        reject(fault) {
          clearTimeout(timer)
          reject(fault)
        },
      })
      const asked: NumberedQuestion<Question> = { number, question }
      const line = this.#line as MessagePort
      line.postMessage(asked)
    })
  }

  /** Refuses what waits for an answer, and whatever is asked from now on. */
  end(fault: Fault): void {
    this.#ended ??= fault
    for (const number of [...this.#waiting.keys()]) this.#take(number)?.reject(fault)
  }

  #settle(reply: NumberedAnswer<Answer>): void {
    const one = this.#take(reply.number)
    if ('fault' in reply) one?.reject(faultOf(reply.fault))
    else one?.resolve(reply.answer)
  }

  /** One that waits, which then waits no longer; undefined when its answer was late. */
  #take(number: number): Waiting<Answer> | undefined {
    const one = this.#waiting.get(number)
    if (this.#waiting.delete(number) && this.#waiting.size === 0) this.#line.unref()
    return one
  }
}

/** Answers what a `ThreadClient` at the other end of a line asks, as it comes; `number` is the question's own. */
export function serveThread<Question, Answer>(
  line: MessagePort,
  answerTo: (question: Question, number: number) => Answer | Promise<Answer>,
): void {
  line.on('message', async ({ number, question }: NumberedQuestion<Question>) => {
    try {
      const answer = await answerTo(question, number)
      line.postMessage({ number, answer } satisfies NumberedAnswer<Answer>)
    } catch (error) {
      line.postMessage({ number, fault: plainFault(error) })
    }
  })
}
