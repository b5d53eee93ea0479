import type { DimensionName, HitDimensions } from '../../model/analytics/dimensions.ts'
import { HOUR_MS } from '../../model/analytics/hit.ts'
import type { HitLog } from './hit-log.ts'
import type { HitSlot } from './slots.ts'

/** Where cells get the slots that they count in: the book. */
export interface SlotSource {
  /** Takes requests whose dimensions have a number. */
  readonly log: HitLog
  /** Answers a slot that counts requests of these dimensions, this status and the minute of `wallMs`, and remembers it in the cell. */
  slotFor(cell: HitCell, status: number, wallMs: number): HitSlot
}

/** A dimension that cells are parted by. */
export interface PartDimension {
  readonly name: DimensionName
  /** Values that are counted separately for one key, and for requests without a key; requests with others are counted without. */
  readonly mostPerKey: number
  readonly mostWithoutKey: number
}

/** A tag or endpoint combination more than this is counted in the cell itself, without them. */
const VARIANTS_PER_CELL = 256
/** Tells hits that were answered with a stored answer. */
const CACHED_TAG = 'cached-response'

/**
 * The handle by which a request is counted: made once for a session at an API version and kept there, so that a
 * request builds and compares no text. Once its dimensions have a number, a request is a note in the log of the book; until
 * then, and when the log is full, it is counted in slots, which are held between a request and the next flush.
 */
export class HitCell {
  // The hot fields come first and close together: with thousands of keys in use each cache line costs.
  /** The numbers of the dimensions in samples, once the book has requested them from the store. */
  number = 0
  /** Requests before this hour (since the Unix epoch) are noted by the number; later ones count in rows until the book has asked again. */
  numberUntilHour = 0
  readonly #source: SlotSource
  readonly dimensions: HitDimensions
  /** True when its slots were handed to the store once: a cell that comes again is worth a number. */
  known = false
  /** Slots in use since the last flush, linked by `next`: one for each status met, the one asked for last in front. */
  first: HitSlot | undefined
  /** Which group of keys it belongs to, see `byKey`. */
  readonly group: number
  #variants: Map<string, Map<string, HitCell>> | undefined
  #variantCount = 0
  #lastVariant: HitCell | undefined
  /** Cells of requests with a value of a dimension, by both. */
  #parts: Map<PartDimension, Map<string, HitCell>> | undefined
  #lastPart: HitCell | undefined
  #fromCache: HitCell | undefined

  constructor(source: SlotSource, dimensions: HitDimensions) {
    this.first = undefined
    this.#source = source
    this.dimensions = dimensions
    this.group = groupOf(dimensions.keyHash)
  }

  /**
   * Counts one finished request. `totalMs` from its first byte to its last; `upstreamMs` below 0 = not handed on;
   * `wallMs` (Unix) gives the minute it belongs to.
   */
  add(status: number, totalMs: number, upstreamMs: number, wallMs: number): void {
    if (
      wallMs < this.numberUntilHour * HOUR_MS &&
      this.#source.log.add(this.number, status, totalMs, upstreamMs, wallMs)
    )
      return
    let slot = this.first
    if (slot === undefined || slot.status !== status || wallMs < slot.fromMs || wallMs >= slot.toMs)
      slot = this.#source.slotFor(this, status, wallMs)
    slot.add(totalMs, upstreamMs, wallMs)
  }

  /**
   * The cell of the same session, API and version with other tags or another endpoint. Kept here, so that asking
   * again costs two comparisons or two look-ups. At most 256 of them; what comes after is counted in this cell.
   */
  variant(tags: string, endpoint: string): HitCell {
    if (isCell(this, tags, endpoint)) return this
    const last = this.#lastVariant
    if (last !== undefined && isCell(last, tags, endpoint)) return last
    const found = this.#findVariant(tags, endpoint)
    if (found !== this) this.#lastVariant = found
    return found
  }

  /** The cell of the same requests with one value of a dimension. A few for each key; what comes after is counted in this cell. */
  part(dimension: PartDimension, value: string): HitCell {
    const last = this.#lastPart
    if (last !== undefined && last.dimensions[dimension.name] === value) return last
    const found = this.#findPart(dimension, value)
    if (found !== this) this.#lastPart = found
    return found
  }

  /** The cell of the same requests as far as they were answered from the cache, which a tag tells. */
  fromCache(): HitCell {
    this.#fromCache ??= new HitCell(this.#source, {
      ...this.dimensions,
      tags: withTag(this.dimensions.tags, CACHED_TAG),
    })
    return this.#fromCache
  }

  #findPart(dimension: PartDimension, value: string): HitCell {
    this.#parts ??= new Map()
    const parts = this.#parts.get(dimension) ?? new Map<string, HitCell>()
    this.#parts.set(dimension, parts)
    const known = parts.get(value)
    if (known !== undefined) return known
    const { name, mostPerKey, mostWithoutKey } = dimension
    if (parts.size >= (this.dimensions.keyHash === '' ? mostWithoutKey : mostPerKey)) return this
    const made = new HitCell(this.#source, { ...this.dimensions, [name]: value })
    parts.set(value, made)
    return made
  }

  #findVariant(tags: string, endpoint: string): HitCell {
    this.#variants ??= new Map()
    const byTags = this.#variants.get(endpoint)
    const found = byTags?.get(tags)
    if (found !== undefined) return found
    if (this.#variantCount >= VARIANTS_PER_CELL) return this
    this.#variantCount++
    const made = new HitCell(this.#source, { ...this.dimensions, tags, endpoint })
    if (byTags === undefined) this.#variants.set(endpoint, new Map([[tags, made]]))
    else byTags.set(tags, made)
    return made
  }
}

/** Adds a tag to others that are joined in order. */
function withTag(tags: string, tag: string): string {
  return tags === '' ? tag : [...new Set([...tags.split(','), tag])].sort().join(',')
}

function isCell(cell: HitCell, tags: string, endpoint: string): boolean {
  return cell.dimensions.tags === tags && cell.dimensions.endpoint === endpoint
}

const GROUPS = 256

/** The first byte of a hash in hex; something stable for any other text. */
function groupOf(keyHash: string): number {
  if (keyHash.length < 2) return 0
  return ((digit(keyHash.charCodeAt(0)) << 4) | digit(keyHash.charCodeAt(1))) & (GROUPS - 1)
}

function digit(code: number): number {
  return code > 57 ? code - 87 : code - 48
}

/**
 * The cells in an order that stays about the same from flush to flush and over a restart: by the first
 * byte of their key. The rows of one batch are then adjacent in the store too: with ten thousand keys a batch of five
 * hundred writes some thirty pages, in the order of the requests it was nearly as many pages as rows.
 */
export function byKey(cells: readonly HitCell[]): HitCell[] {
  const ends = new Uint32Array(GROUPS + 1)
  for (const cell of cells) ends[cell.group + 1]!++
  for (let group = 0; group < GROUPS; group++) ends[group + 1]! += ends[group]!
  const ordered: HitCell[] = new Array(cells.length)
  for (const cell of cells) ordered[ends[cell.group]!++] = cell
  return ordered
}
