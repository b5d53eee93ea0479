/** Versions of a QR symbol (ISO/IEC 18004) that are drawn here: enough for 300 characters, at error correction level M. */
const MOST_VERSION = 15
/** Error correction bytes of each block, and number of blocks, by version. Position 0 stands for no version. */
const CORRECTION = [0, 10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24]
const BLOCKS = [0, 1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10]
const LEVEL_M = 0
const BYTES = 0b0100
const PADDING = [0xec, 0x11]

/** A symbol while it is drawn: which modules are dark, and which of them belong to its own patterns. */
interface Drawing {
  readonly size: number
  readonly dark: boolean[][]
  readonly fixed: boolean[][]
}

/** The modules of the QR symbol of a text, row by row; true = dark. @throws Error for a text that is too long */
export function qrSymbol(text: string): readonly (readonly boolean[])[] {
  const bytes = new TextEncoder().encode(text)
  const version = versionFor(bytes.length)
  const drawing = frameOf(version)
  placeCodewords(drawing, corrected(dataWords(bytes, version), version))
  const masked = MASKS.map((mask, number) => maskedBy(drawing, mask, number))
  return masked.reduce((best, next) => (penaltyOf(next) < penaltyOf(best) ? next : best))
}

function versionFor(length: number): number {
  for (let version = 1; version <= MOST_VERSION; version++)
    if (length + 2 + (version > 9 ? 1 : 0) <= dataCount(version)) return version
  throw new Error('the text is too long for a code')
}

/** Bytes that a symbol holds, error correction included. */
function wordCount(version: number): number {
  const rows = Math.floor(version / 7) + 2
  const alignment = version === 1 ? 0 : (25 * rows - 10) * rows - 55
  return Math.floor(((16 * version + 128) * version + 64 - alignment - (version >= 7 ? 36 : 0)) / 8)
}

function dataCount(version: number): number {
  return wordCount(version) - CORRECTION[version]! * BLOCKS[version]!
}

/** Mode, length, text, end, padding. */
function dataWords(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = []
  const push = (value: number, count: number) => {
    for (let i = count - 1; i >= 0; i--) bits.push((value >>> i) & 1)
  }
  const capacity = dataCount(version) * 8
  push(BYTES, 4)
  push(bytes.length, version > 9 ? 16 : 8)
  for (const byte of bytes) push(byte, 8)
  push(0, Math.min(4, capacity - bits.length))
  push(0, (8 - (bits.length % 8)) % 8)
  for (let i = 0; bits.length < capacity; i++) push(PADDING[i % 2]!, 8)
  return Array.from({ length: bits.length / 8 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8).join(''), 2))
}

/** The blocks with their error correction, the first bytes of all blocks first. */
function corrected(words: readonly number[], version: number): number[] {
  const count = BLOCKS[version]!
  const short = Math.floor(words.length / count)
  const longFrom = count - (words.length % count)
  const divisor = divisorOf(CORRECTION[version]!)
  let at = 0
  const blocks = Array.from({ length: count }, (_, i) => {
    const data = words.slice(at, at + short + (i >= longFrom ? 1 : 0))
    at += data.length
    return { data, check: remainderOf(data, divisor) }
  })
  const columns = (lists: readonly (readonly number[])[]) =>
    Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) =>
      lists.flatMap((list) => (list[i] === undefined ? [] : [list[i]])),
    ).flat()
  return [...columns(blocks.map(({ data }) => data)), ...columns(blocks.map(({ check }) => check))]
}

/** Product in GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function product(a: number, b: number): number {
  let result = 0
  for (let i = 7; i >= 0; i--) result = (result << 1) ^ ((result >>> 7) * 0x11d) ^ (((b >>> i) & 1) * a)
  return result
}

function divisorOf(degree: number): number[] {
  let divisor = [1]
  let root = 1
  for (let i = 0; i < degree; i++) {
    const factor = root
    divisor = [...divisor, 0].map((word, j) => word ^ (j === 0 ? 0 : product(divisor[j - 1]!, factor)))
    root = product(root, 2)
  }
  return divisor.slice(1)
}

function remainderOf(data: readonly number[], divisor: readonly number[]): number[] {
  let rest: number[] = divisor.map(() => 0)
  for (const word of data) {
    const factor = word ^ rest[0]!
    rest = [...rest.slice(1), 0].map((value, i) => value ^ product(divisor[i]!, factor))
  }
  return rest
}

function frameOf(version: number): Drawing {
  const size = version * 4 + 17
  const grid = () => Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  const drawing: Drawing = { size, dark: grid(), fixed: grid() }
  for (let i = 0; i < size; i++) {
    set(drawing, 6, i, i % 2 === 0)
    set(drawing, i, 6, i % 2 === 0)
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    finder(drawing, x, y)
  alignments(drawing, version)
  formatBits(drawing, 0)
  versionBits(drawing, version)
  return drawing
}

function set({ size, dark, fixed }: Drawing, x: number, y: number, isDark: boolean): void {
  if (x < 0 || y < 0 || x >= size || y >= size) return
  dark[y]![x] = isDark
  fixed[y]![x] = true
}

function finder(drawing: Drawing, x: number, y: number): void {
  for (let dy = -4; dy <= 4; dy++)
    for (let dx = -4; dx <= 4; dx++) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy))
      set(drawing, x + dx, y + dy, ring !== 2 && ring !== 4)
    }
}

function alignments(drawing: Drawing, version: number): void {
  if (version === 1) return
  const rows = Math.floor(version / 7) + 2
  const step = Math.ceil((version * 4 + 4) / (rows * 2 - 2)) * 2
  const places = [6, ...Array.from({ length: rows - 1 }, (_, i) => drawing.size - 7 - (rows - 2 - i) * step)]
  const last = rows - 1
  places.forEach((y, j) => {
    places.forEach((x, i) => {
      // Three corners have the large patterns.
      if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return
      for (let dy = -2; dy <= 2; dy++)
        for (let dx = -2; dx <= 2; dx++) set(drawing, x + dx, y + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1)
    })
  })
}

/** The remainder of a BCH code, behind its value. */
function coded(value: number, degree: number, generator: number): number {
  let rest = value
  for (let i = 0; i < degree; i++) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * generator)
  return (value << degree) | rest
}

function formatBits(drawing: Drawing, mask: number): void {
  const { size } = drawing
  const bits = coded((LEVEL_M << 3) | mask, 10, 0x537) ^ 0x5412
  const bit = (i: number) => ((bits >>> i) & 1) === 1
  for (let i = 0; i <= 5; i++) set(drawing, 8, i, bit(i))
  set(drawing, 8, 7, bit(6))
  set(drawing, 8, 8, bit(7))
  set(drawing, 7, 8, bit(8))
  for (let i = 9; i < 15; i++) set(drawing, 14 - i, 8, bit(i))
  for (let i = 0; i < 8; i++) set(drawing, size - 1 - i, 8, bit(i))
  for (let i = 8; i < 15; i++) set(drawing, 8, size - 15 + i, bit(i))
  set(drawing, 8, size - 8, true)
}

function versionBits(drawing: Drawing, version: number): void {
  if (version < 7) return
  const bits = coded(version, 12, 0x1f25)
  for (let i = 0; i < 18; i++) {
    const far = drawing.size - 11 + (i % 3)
    const near = Math.floor(i / 3)
    const isDark = ((bits >>> i) & 1) === 1
    set(drawing, far, near, isDark)
    set(drawing, near, far, isDark)
  }
}

/** Two columns at a time from the right, up and down in turn, past the column of the timing pattern. */
function placeCodewords({ size, dark, fixed }: Drawing, words: readonly number[]): void {
  let at = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = ((right + 1) & 2) === 0 ? size - 1 - step : step
        if (fixed[y]![x] || at >= words.length * 8) continue
        dark[y]![x] = ((words[at >>> 3]! >>> (7 - (at & 7))) & 1) === 1
        at++
      }
  }
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

function maskedBy(
  { size, dark, fixed }: Drawing,
  mask: (x: number, y: number) => boolean,
  number: number,
): boolean[][] {
  const flipped = dark.map((row, y) => row.map((isDark, x) => (fixed[y]![x] ? isDark : isDark !== mask(x, y))))
  const drawing: Drawing = { size, dark: flipped, fixed }
  formatBits(drawing, number)
  return flipped
}

/** How hard a symbol is to read: long runs, blocks of one colour, more dark than light. Any mask is right; this picks a good one. */
function penaltyOf(dark: readonly (readonly boolean[])[]): number {
  const size = dark.length
  const columns = dark.map((_, x) => dark.map((row) => row[x]!))
  let points = 0
  for (const line of [...dark, ...columns]) {
    const text = line.map((isDark) => (isDark ? '1' : '0')).join('')
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2
    points += (text.match(/(?=10111010000|00001011101)/g) ?? []).length * 40
  }
  for (let y = 1; y < size; y++)
    for (let x = 1; x < size; x++) {
      const same = [dark[y - 1]![x - 1], dark[y - 1]![x], dark[y]![x - 1]].every((one) => one === dark[y]![x])
      if (same) points += 3
    }
  const share = dark.flat().filter(Boolean).length / (size * size)
  return points + Math.floor(Math.abs(share - 0.5) * 20) * 10
}
