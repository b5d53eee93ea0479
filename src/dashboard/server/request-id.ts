import { randomBytes } from 'node:crypto'

/** Makes the id of a request: 20 characters, safe in a header, a URL and a file name. */
export function newRequestId(): string {
  return randomBytes(15).toString('base64url')
}
