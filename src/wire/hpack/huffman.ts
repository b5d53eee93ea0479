/**
 * Bits of the code of each byte, and of EOS (RFC 7541 appendix B). The codes themselves follow from them: the shorter come first,
 * those of one length in the order of their bytes.
 */
const LENGTHS: readonly number[] = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28],
  ...[28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15],
  ...[6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  ...[15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22],
  ...[20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23],
  ...[23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22],
  ...[22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26],
  ...[27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27],
  ...[26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30],
]
const EOS = 256
/** A part of a code that is longer is written in two steps, so that 32 bits hold it with what is left of the byte before. */
const MAX_STEP_BITS = 24
const HALF_BITS = 16

// One decoder step takes four bits: the next node in the code tree, and the byte that they completed, if any.
const NODES = 256
const EMITS = 1 << 16
const FAILS = 1 << 17

const CODES: Uint32Array = codes()
/** Module state: tables that are filled when the module is loaded, and only read afterwards. */
const STEPS: Int32Array = new Int32Array(NODES * 16)
/** Whether a string may end here: padding is the beginning of EOS, less than a byte of it (RFC 7541 section 5.2). Module state as `STEPS`. */
const MAY_END: Uint8Array = new Uint8Array(NODES)
fillSteps()

function codes(): Uint32Array {
  const table = new Uint32Array(LENGTHS.length)
  let code = 0
  for (let bits = 1; bits <= 30; bits++) {
    code *= 2
    for (let symbol = 0; symbol <= EOS; symbol++) if (LENGTHS[symbol] === bits) table[symbol] = code++
  }
  return table
}

/** Branches of each inner node by bit: another node, or the complement of a symbol. */
function tree(): Int32Array {
  const branches = new Int32Array(NODES * 2)
  let nodes = 1
  for (let symbol = 0; symbol <= EOS; symbol++) {
    const length = LENGTHS[symbol]!
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const at = node * 2 + ((CODES[symbol]! >>> bit) & 1)
      if (branches[at] === 0) branches[at] = nodes++
      node = branches[at]!
    }
    branches[node * 2 + (CODES[symbol]! & 1)] = ~symbol
  }
  return branches
}

function fillSteps(): void {
  const branches = tree()
  for (let node = 0; node < NODES; node++) {
    for (let nibble = 0; nibble < 16; nibble++) STEPS[node * 16 + nibble] = step(branches, node, nibble)
  }
  let ones = 0
  for (let bits = 0; bits < 8; bits++) {
    MAY_END[ones] = 1
    ones = branches[ones * 2 + 1]!
  }
}

/** No code is shorter than five bits: four end one at most. */
function step(branches: Int32Array, from: number, nibble: number): number {
  let node = from
  let emitted = 0
  for (let bit = 3; bit >= 0; bit--) {
    const next = branches[node * 2 + ((nibble >>> bit) & 1)]!
    if (next === ~EOS) return FAILS
    if (next < 0) emitted = EMITS | (~next << 8)
    node = next < 0 ? 0 : next
  }
  return node | emitted
}

/**
 * Decodes the bytes `from` to `to` into `out`, which must hold eight fifths of them (RFC 7541 section 5.2). Answers the number of
 * bytes decoded; -1 for a string that has EOS in it, or ends otherwise than with less than eight bits of it.
 */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number, out: Uint8Array): number {
  let node = 0
  let size = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    const high = STEPS[node * 16 + (byte >>> 4)]!
    if ((high & EMITS) !== 0) out[size++] = (high >>> 8) & 255
    const low = STEPS[(high & 255) * 16 + (byte & 15)]!
    if (((high | low) & FAILS) !== 0) return -1
    if ((low & EMITS) !== 0) out[size++] = (low >>> 8) & 255
    node = low & 255
  }
  return MAY_END[node] === 1 ? size : -1
}

/** Bytes that latin1 text takes in Huffman code. */
export function huffmanLength(text: string): number {
  let bits = 0
  for (let i = 0; i < text.length; i++) bits += LENGTHS[text.charCodeAt(i) & 255]!
  return (bits + 7) >>> 3
}

/** Writes latin1 text in Huffman code from `at` on. Answers the offset behind it. */
export function encodeHuffman(text: string, out: Uint8Array, at: number): number {
  let pending = 0
  let bits = 0
  let end = at
  const put = (code: number, length: number) => {
    pending = (pending << length) | code
    bits += length
    while (bits >= 8) {
      bits -= 8
      out[end++] = (pending >>> bits) & 255
    }
    pending &= (1 << bits) - 1
  }
  for (let i = 0; i < text.length; i++) {
    const symbol = text.charCodeAt(i) & 255
    const length = LENGTHS[symbol]!
    const code = CODES[symbol]!
    if (length <= MAX_STEP_BITS) put(code, length)
    else {
      put(code >>> HALF_BITS, length - HALF_BITS)
      put(code & 0xffff, HALF_BITS)
    }
  }
  if (bits > 0) out[end++] = ((pending << (8 - bits)) | (255 >>> bits)) & 255
  return end
}
