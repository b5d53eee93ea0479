import { fault, waitFault } from '../errors/fault.ts'
import type { Clock } from '../model/clock.ts'
import { equalSecrets } from '../model/secret.ts'
import { SecretBrake } from '../model/secret-brake.ts'
import { visitorOf } from '../model/visitor.ts'
import type { Exchange } from './exchange.ts'

/** Who may do what the gateway secret is for, at whatever port and path it is shown. One for a node, since it counts who guesses. */
export class SecretGate {
  readonly #secret: string
  readonly #headers: readonly string[]
  readonly #brake: SecretBrake

  /** `words` stand for `svc`. `secret` '' opens nothing. */
  constructor({ secret, words, clock }: { secret: string; words: readonly string[]; clock: Clock }) {
    this.#secret = secret
    this.#headers = words.map((word) => `x-${word}-authorization`)
    this.#brake = new SecretBrake(clock)
  }

  /**
   * True when the request shows the secret, false when it shows none or another one.
   * @throws Fault `request_malformed` when it is given several times, `secret_throttled` (429) where too many wrong ones came
   */
  knows(x: Pick<Exchange, 'request' | 'clientAddress'>): boolean {
    const [given, second] = this.#headers.flatMap((header) => x.request.all(header))
    if (second !== undefined)
      throw fault('request_malformed', `${this.#headers[0]} given several times: send one credential`)
    if (given === undefined || given === '') return false
    const right = this.#secret !== '' && equalSecrets(given, this.#secret)
    const waitMs = this.#brake.waitMs(visitorOf(x.clientAddress), right)
    if (waitMs > 0) throw waitFault('secret_throttled', waitMs)
    return right
  }
}
