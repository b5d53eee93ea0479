import type { Session } from '../../model/sessions/session.ts'

/** Distinct values of one header that are counted separately in the hits of one API. */
const VALUES_PER_HEADER = 100
const VALUE_CHARACTERS = 64
/** Combinations of header tags that one session keeps joined; more are joined for each request. */
const JOINED_PER_SESSION = 256

/** A head as tags read it: the value of a field by its lower-case name. */
export interface TagFields {
  get(lowerName: string): string | undefined
}

export interface ApiTagOptions {
  /** The API's own tags. */
  readonly apiTags: readonly string[]
  /** Tags of this node; empty unless the node is segmented. */
  readonly nodeTags: readonly string[]
  /** Request headers whose values become tags, any letter case. */
  readonly tagHeaders: readonly string[]
}

/** The tags that the requests of one API get in the hits, however they are called. One per compiled API. */
export class ApiTags {
  readonly #fixed: readonly string[]
  readonly headers: readonly HeaderTag[]

  constructor(options: ApiTagOptions) {
    this.#fixed = [...options.apiTags, ...options.nodeTags]
    this.headers = [...new Set(options.tagHeaders.map((name) => name.toLowerCase()))].map((name) => new HeaderTag(name))
  }

  /**
   * Prepares the tags of a session at this API (`session` undefined: a request without one), once when its grant is compiled.
   * `pol-<id>` for each applied policy, `dev-<id>` for the developer in the metadata, the session's own and merged tags.
   */
  forSession(session: Pick<Session, 'apply_policies' | 'tags' | 'meta_data'> | undefined): SessionTags {
    const tags = [...this.#fixed]
    for (const id of session?.apply_policies ?? []) tags.push(`pol-${id}`)
    const developer = session?.meta_data?.svc_developer_id
    if (typeof developer === 'string' && developer !== '') tags.push(`dev-${developer}`)
    tags.push(...(session?.tags ?? []))
    return new SessionTags(this, tags.map(clean))
  }
}

/** One header whose values are tags: `<name>-<value>`, and `<name>-other` beyond a hundred values. */
class HeaderTag {
  readonly name: string
  readonly #tags = new Map<string, string>()

  constructor(name: string) {
    this.name = name
  }

  tagOf(value: string): string {
    const short = value.length > VALUE_CHARACTERS ? value.slice(0, VALUE_CHARACTERS) : value
    const known = this.#tags.get(short)
    if (known !== undefined) return known
    if (this.#tags.size >= VALUES_PER_HEADER) return `${this.name}-other`
    // Joined again, so that the map does not hold on to the request head that the value was cut from.
    const copy = Buffer.from(short, 'latin1').toString('latin1')
    const tag = clean(`${this.name}-${copy}`)
    this.#tags.set(copy, tag)
    return tag
  }
}

/** The tags of one session at one API, joined for the hits. */
export class SessionTags {
  /** Sorted and joined, without header tags. */
  readonly base: string
  readonly #api: ApiTags
  readonly #list: readonly string[]
  readonly #joined: JoinedTags = { text: undefined, next: undefined }
  #joinedCount = 0

  constructor(api: ApiTags, list: readonly string[]) {
    this.#api = api
    this.#list = list
    this.base = join(list)
  }

  /** The joined tags of one request. Without tag headers, or without a value in them, this is `base` itself. */
  key(fields: TagFields): string {
    const headers = this.#api.headers
    if (headers.length === 0) return this.base
    let node = this.#joined
    let found: string[] | undefined
    for (const header of headers) {
      const value = fields.get(header.name)
      const tag = value === undefined || value === '' ? '' : header.tagOf(value)
      if (tag !== '') {
        found ??= []
        found.push(tag)
      }
      node = this.#step(node, tag)
    }
    if (found === undefined) return this.base
    if (node.text !== undefined) return node.text
    const text = join([...this.#list, ...found])
    if (node !== LOOSE) node.text = text
    return text
  }

  /** Walks from one header's tag to the next, remembering the way while there is room. */
  #step(node: JoinedTags, tag: string): JoinedTags {
    if (node === LOOSE) return LOOSE
    const known = node.next?.get(tag)
    if (known !== undefined) return known
    if (this.#joinedCount >= JOINED_PER_SESSION) return LOOSE
    this.#joinedCount++
    const made: JoinedTags = { text: undefined, next: undefined }
    node.next ??= new Map()
    node.next.set(tag, made)
    return made
  }
}

interface JoinedTags {
  text: string | undefined
  next: Map<string, JoinedTags> | undefined
}

/** Where a combination ends up that is not remembered. */
const LOOSE: JoinedTags = { text: undefined, next: undefined }

function join(tags: readonly string[]): string {
  return [...new Set(tags)]
    .filter((tag) => tag !== '')
    .sort()
    .join(',')
}

/** A comma would make two tags of one, and control characters have no place in a report. */
function clean(tag: string): string {
  return tag.replace(/[,\u0000-\u001f\u007f]/g, '_')
}
