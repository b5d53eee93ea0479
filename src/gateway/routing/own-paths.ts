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

/** With or without a slash at the end. */
function endpoint(words: readonly string[], name: string): OwnEndpoint {
  const all = words.map((word) => `/${word}/${name}`)
  return (path, at) => {
    for (const own of all) {
      if (!path.startsWith(own, at)) continue
      const end = at + own.length
      if (path.length === end || (path.length === end + 1 && path.endsWith('/'))) return true
    }
    return false
  }
}
