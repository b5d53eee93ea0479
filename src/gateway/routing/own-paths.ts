/** A test for the endpoint of an API that it answers itself, in the part of a path from the slash at `at` on. */
export type OwnEndpoint = (path: string, at: number) => boolean

/** The endpoint of batches below a listen path. `words` are the names for `svc`. */
export function batchEndpoint(words: readonly string[]): OwnEndpoint {
  return endpoint(words, 'batch')
}

/** Where callers read their rate limits, below a listen path. */
export function rateLimitsEndpoint(words: readonly string[]): OwnEndpoint {
  return endpoint(words, 'rate-limits')
}

/** With or without a slash at the end. Lengths go first: every request is asked, and nearly none has a fitting one. */
function endpoint(words: readonly string[], name: string): OwnEndpoint {
  const all = words.map((word) => `/${word}/${name}`)
  return (path, at) => {
    const length = path.length - at
    for (const own of all) {
      const isExact = length === own.length
      if (!isExact && length !== own.length + 1) continue
      if (path.startsWith(own, at) && (isExact || path.endsWith('/'))) return true
    }
    return false
  }
}
