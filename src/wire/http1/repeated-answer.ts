/** An answer that is written more than once. Texts are latin1. */
export interface RepeatedAnswer {
  readonly status: number
  /** Status line and fields, Date among them, without Content-Length and Connection. */
  readonly head: string
  /** Content-Length where the status has a body, and the empty line. */
  readonly headEnd: string
  /** A small body; '' when it is `bytes`. */
  readonly text: string
  readonly bytes: Buffer | undefined
  /** Head, its end and `text` in one, ready to be written. */
  readonly whole: string
}
