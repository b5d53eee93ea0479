/** Longer ids are for no log: a caller could fill it with a few requests. */
const MOST_CHARACTERS = 128
const TAKEN = new RegExp(`^[A-Za-z0-9._:+/=@~-]{1,${MOST_CHARACTERS}}$`)

/** True for a request id that another system may have made: 1 to 128 characters that need no escape in logs, URLs and shells. */
export function isRequestId(text: string): boolean {
  return TAKEN.test(text)
}
