import type { FieldPairs } from '../modules/messages.ts'

/** Values of a request as they were before edits, for variables. */
export interface SentValues {
  /** Without credentials. */
  readonly fields: FieldPairs
  /** The form in the body; '' = none, or nothing asks for it. */
  readonly form: string
}
