import type { ModuleRef } from '../../model/apis/definition/api.ts'
import type { JsonObject } from '../../model/json/json.ts'

// The messages between the gateway and the thread of an API's modules. Not those of `model/threads/thread-rpc.ts`: a call outlives its
// thread and is sent to the next one under its id, which shared memory shows while its function runs.

/** Names and values of fields, as they were sent. */
export type FieldPairs = readonly (readonly [name: string, value: string])[]

/** A request as modules may see it. */
export interface RequestView {
  readonly api: { readonly id: string; readonly name: string }
  readonly method: string
  readonly path: string
  readonly query: string
  readonly fields: FieldPairs
  readonly clientAddress: string
  readonly requestId: string
  readonly session: JsonObject | undefined
  readonly context: JsonObject
  /** undefined where no function of the phase asks for it. */
  readonly body?: Uint8Array
}

/** An answer of the upstream as modules may see it. */
export interface AnswerView {
  readonly status: number
  readonly fields: FieldPairs
  readonly body: Uint8Array
}

/** One call: the functions of one phase, in order. */
export interface ModuleTask {
  readonly refs: readonly ModuleRef[]
  readonly request: RequestView
  /** Present in the phase `response`. */
  readonly answer?: AnswerView
}

/** An edit of a field: its name in lower case, its values; none = removed. */
export interface FieldEdit {
  readonly name: string
  readonly values: readonly string[]
}

/** The edits of modules to a request. */
export interface ModuleOutcome {
  readonly edits: readonly FieldEdit[]
  /** undefined = as it was. */
  readonly path: string | undefined
  readonly query: string | undefined
  /** Of the request. */
  readonly body: Uint8Array | undefined
  readonly context: JsonObject
  /** Present when the request ends here. */
  readonly reply:
    | { readonly status: number; readonly fields: FieldPairs; readonly body: string | Uint8Array }
    | undefined
  /** Present when it ends here with a refusal. */
  readonly refusal: { readonly status: number; readonly message: string } | undefined
  /** Present in the phase `response`. */
  readonly answer: { readonly status: number; readonly body: string | Uint8Array } | undefined
}

/** The start message of the thread. */
export interface ThreadData {
  /** Absolute paths by file name. */
  readonly files: readonly (readonly [file: string, path: string])[]
  readonly refs: readonly ModuleRef[]
  readonly config: JsonObject
  /** Id of the call whose function runs at this moment, 0 = none: readable also when the thread does not answer any more. */
  readonly running: Int32Array
}

/** To the thread: a call, or the question whether it still answers. */
export type ModuleCommand = { readonly id: number; readonly task: ModuleTask } | { readonly ping: true }

/** From the thread. */
export type ModuleReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'pong' }
  | { readonly kind: 'done'; readonly id: number; readonly outcome: ModuleOutcome }
  | { readonly kind: 'thrown'; readonly id: number; readonly reason: string }
