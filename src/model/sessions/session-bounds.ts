/**
 * How many of each a key or policy may hold. A request is compared with lists: each entry costs every request of every
 * key that has it, and one tenant's lists must not hold up the requests of others.
 */
export const MOST = {
  /** Patterns of `allowed_urls` of one right. */
  allowed_urls: 500,
  /** Paths with separate limits in one access right. */
  endpoints: 500,
  methods: 50,
  versions: 1000,
  types: 1000,
  tags: 500,
  /** APIs in `access_rights`. */
  rights: 10_000,
  /** Patterns of all rights together: of one document, and of a session with all its policies. */
  patterns: 10_000,
  /** Characters of these patterns together, as `compileWeight` counts them: compiling them costs about 0.2 µs a character. */
  pattern_characters: 1_000_000,
  /** Members of `meta_data` and of other objects whose names are free. */
  members: 1000,
  /**
   * Characters of a key, policy or OAuth client as JSON, without the path lists of its rights: gateways keep it for each key
   * and each token. `characters_of_right` more for each right.
   */
  characters: 100_000,
  characters_of_right: 1000,
} as const
