/** One thing that is wrong with a document: where, and what, in words that follow a colon. */
export interface Flaw {
  readonly at: readonly string[]
  readonly reason: string
}
