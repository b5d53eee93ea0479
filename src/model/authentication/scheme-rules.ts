/** A part of a request that holds a credential, or belongs to one. */
export interface CredentialPlace {
  /** `headers`, `cookies`: all whose names begin so. */
  readonly in: 'header' | 'headers' | 'query' | 'cookie' | 'cookies'
  readonly name: string
  /** Equal where upstreams may take one for the other. */
  readonly key: string
}

/** One way to prove who calls: where the proof is read (in one of these places only), and what it is checked by. */
export interface SchemeRules {
  /** Of `SCHEMES` (`schemes.ts`). */
  readonly method: string
  /** Lower case name, undefined = not read there. */
  readonly header: string | undefined
  readonly query: string | undefined
  readonly cookie: string | undefined
  /** True = of a caller without a key, the certificate of the connection is the key (method `token`). */
  readonly certificate?: boolean
  /** Further settings that the scheme reads; see `settingsOf`. */
  readonly settings?: unknown
}
