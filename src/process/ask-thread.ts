import type { MessagePort } from 'node:worker_threads'
import type { FaultCode } from '../errors/catalog.ts'
import { Fault, fault, toFault } from '../errors/fault.ts'

interface Asked<Question> {
  readonly number: number
  readonly question: Question
}

interface Told<Answer> {
  readonly number: number
  readonly answer?: Answer
  readonly refusal?: { readonly code: FaultCode; readonly message: string }
}

/**
 * Asks the thread at the other end of a channel. Answers may come in any order; its faults are thrown here, and `gateway_behind` where
 * none comes within `withinMs`.
 */
export function askThread<Question, Answer>(
  port: MessagePort,
  withinMs: number,
): (question: Question) => Promise<Answer> {
  const waiting = new Map<number, (told: Told<Answer>) => void>()
  let last = 0
  port.on('message', (told: Told<Answer>) => {
    waiting.get(told.number)?.(told)
    waiting.delete(told.number)
  })
  port.unref()
  return (question) =>
    new Promise((resolve, reject) => {
      const number = ++last
      const late = setTimeout(() => {
        waiting.delete(number)
        reject(fault('gateway_behind'))
      }, withinMs)
      waiting.set(number, ({ answer, refusal }) => {
        clearTimeout(late)
        if (refusal === undefined) resolve(answer as Answer)
        else reject(new Fault(refusal.code, refusal.message))
      })
      port.postMessage({ number, question } satisfies Asked<Question>)
    })
}

/** Answers what the thread at the other end asks. */
export function answerThread<Question, Answer>(
  port: MessagePort,
  answerTo: (question: Question) => Promise<Answer>,
): void {
  port.on('message', ({ number, question }: Asked<Question>) => {
    answerTo(question).then(
      (answer) => port.postMessage({ number, answer }),
      (error) => {
        const { code, message } = toFault(error)
        port.postMessage({ number, refusal: { code, message } })
      },
    )
  })
  // The other thread keeps itself alive; this end must not keep the process.
  port.unref()
}
