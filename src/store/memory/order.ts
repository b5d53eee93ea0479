/** Steps that restore the state before a commit, run from the last to the first. */
export type Undo = (() => void)[]

/** Orders texts by their UTF-8 bytes, as the other stores do; by UTF-16 units the order differs beyond U+FFFF. */
export function byBytes(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
