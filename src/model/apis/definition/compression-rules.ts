/** Content codings of answers (RFC 9110 section 8.4.1), those that clients like as well as another in the order of preference. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** How answers of an API are compressed. */
export interface CompressionRules {
  /** In the order of preference; at least one. */
  readonly encodings: readonly Coding[]
  /** Answers whose length is known and less are left as they are. */
  readonly minimumBytes: number
}
