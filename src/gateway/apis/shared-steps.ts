import type { Step } from '../server/exchange.ts'

/**
 * Steps that are the same for many APIs, made once for all of them: a request then runs closures that requests of other APIs have brought
 * into the processor's cache. With 100 APIs a step that each API had for itself cost 0.1 to 0.4 µs a request more.
 */
export class SharedSteps {
  readonly #steps = new Map<string, Step>()

  /** The step of this key. `make` may read nothing that differs between APIs, but for what the key names. */
  get(key: string, make: () => Step): Step {
    const known = this.#steps.get(key)
    if (known !== undefined) return known
    const step = make()
    this.#steps.set(key, step)
    return step
  }
}
