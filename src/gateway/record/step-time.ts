/** One step of a request, in milliseconds: when it began, since the begin of the request, and how long it took. */
export interface StepTime {
  readonly name: string
  readonly atMs: number
  ms: number
}
