/**
 * The types for users' modules: `import type { ModuleExchange } from '.../extension.ts'`.
 * docs/how-to/plugins.md says how they are written.
 */

/** Values that pass between threads: what JSON can say. */
export type ModuleJson =
  | null
  | boolean
  | number
  | string
  | readonly ModuleJson[]
  | { readonly [name: string]: ModuleJson }

/** Who calls, without what it was proved by. */
export interface ModuleSession {
  /** SHA-256 of the key or token, lower-case hex. */
  readonly keyHash: string
  readonly alias: string
  /** '' = no OAuth client. */
  readonly clientId: string
  readonly policyIds: readonly string[]
  /** Unix milliseconds, 0 = never. */
  readonly expiresAt: number
  readonly metaData: Readonly<Record<string, ModuleJson>>
}

/** An answer that a module gives in the upstream's place. */
export interface ModuleReply {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A request, as functions of the phases before the upstream see and change it. */
export interface ModuleExchange {
  readonly api: { readonly id: string; readonly name: string }
  readonly method: string
  /**
   * In the phase `pre` the path below the listen path, which operations are then matched against; from `post` on the path that the
   * upstream is asked for. May be set.
   */
  path: string
  /** Without `?`, and without parameters that hold a credential. May be set. */
  query: string
  /** Without credentials. `set`, `append` and `delete` change what the steps behind and the upstream see. */
  readonly headers: Headers
  /**
   * The bytes of the body as they were sent (`Content-Encoding` says how), none where there is no body; undefined where the definition does
   * not say with `bodyLimitBytes` that this function is shown it. Put another in its place to change it, a text as UTF-8: what is
   * changed within the bytes does not count.
   */
  get body(): Uint8Array | undefined
  set body(body: string | Uint8Array)
  readonly clientAddress: string
  readonly requestId: string
  /** undefined before authentication, and where nobody is asked who they are. */
  readonly session: ModuleSession | undefined
  /** `config_data` of the definition. */
  readonly config: Readonly<Record<string, ModuleJson>>
  /** Notes of modules for later ones on the same request: at most 16 KiB as JSON. */
  readonly context: Record<string, ModuleJson>
  /** Answers in the upstream's place. No later function and no later step sees the request. */
  answer(status: number, reply?: ModuleReply): void
  /** Refuses with a status from 400 to 599 and `{"error": message}`. No later function and no later step sees the request. */
  reject(status: number, message: string): void
}

/** An answer of the upstream, as functions of the phase `response` see and change it. */
export interface ModuleAnswer {
  status: number
  readonly headers: Headers
  /** Decoded. A text that is put here is sent as UTF-8. */
  body: string | Uint8Array
}

/** A function of the phases `pre`, `post_key_auth` and `post`. */
export type RequestFunction = (exchange: ModuleExchange) => void | Promise<void>

/** A function of the phase `response`. Of the exchange it may change the context, and answer or reject in the answer's place. */
export type AnswerFunction = (answer: ModuleAnswer, exchange: ModuleExchange) => void | Promise<void>
