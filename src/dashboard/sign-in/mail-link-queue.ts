import { setTimeout as afterwards } from 'node:timers/promises'
import { toFault } from '../../errors/fault.ts'
import type { Log } from '../../model/logs/log.ts'
import { visitorOf } from '../../model/network/visitor.ts'
import type { Clock } from '../../model/time/clock.ts'
import { AttemptLimiter } from '../../runtime/attempt-limiter.ts'

/** How long the link of a mail is valid, by the specification. */
export const PASSWORD_LINK_MS = 1_000_000
/** Mails to one address, and requests from one network, in the time of a link. */
const MAILS = 3
const REQUESTS = 30
/** By then the response is on its way. */
const AFTER_MS = 250
/** Requests that wait for their mail; more are dropped, which answers alike. */
const MOST_WAITING = 200

/**
 * Takes requests for mails with a link. It returns before anything is looked up, so that neither the answer nor its time tells
 * whether an address is known; what is to be done is done afterwards, one request after the other.
 */
export class MailLinkQueue {
  readonly #log: Log
  readonly #mails: AttemptLimiter
  readonly #requests: AttemptLimiter
  #waiting = 0
  /** Ends with the last request that was accepted. */
  #queue: Promise<void> = Promise.resolve()

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
    const windowMs = PASSWORD_LINK_MS
    this.#log = log
    this.#mails = new AttemptLimiter(clock, { limit: MAILS, windowMs })
    this.#requests = new AttemptLimiter(clock, { limit: REQUESTS, windowMs })
  }

  /** Accepts a request, or drops it in silence where there are too many. `send` looks up who it is for, and mails. */
  accept({ clientAddress }: { readonly clientAddress: string }, send: () => Promise<void>): void {
    const visitor = visitorOf(clientAddress)
    if (this.#waiting >= MOST_WAITING) {
      this.#log.warn({}, 'too many password resets at once, dropped one')
      return
    }
    if (this.#requests.tryBegin(visitor) > 0) return
    this.#waiting++
    const answered = afterwards(AFTER_MS)
    this.#queue = this.#queue
      .then(() => answered)
      .then(send)
      .catch((error: unknown) => {
        const { code, cause } = toFault(error)
        this.#log.error({ code, cause }, 'cannot send a password reset mail')
      })
      .finally(() => {
        this.#waiting--
      })
  }

  /** Counts a mail to an address; false when it has got enough of them. */
  mayMail(address: string): boolean {
    return this.#mails.tryBegin(address) === 0
  }

  /** Resolves when all requests that were accepted are done with. */
  settled(): Promise<void> {
    return this.#queue
  }
}
