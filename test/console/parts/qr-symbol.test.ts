import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { qrSymbol } from '../../../console/src/parts/display/qr-symbol.ts'

const rowsOf = (text: string) => qrSymbol(text).map((row) => row.map((isDark) => (isDark ? '#' : '.')).join(''))

// Symbols of every size from 1 to 13 were read back by an independent reader when these were written down.
test('symbols stay the ones that an independent reader has read', () => {
  assert.deepEqual(rowsOf('gatehouse'), GATEHOUSE)
  const uri = `otpauth://totp/Gatehouse:${'a'.repeat(60)}%40example.test?issuer=Gatehouse&secret=${'A2'.repeat(16)}`
  const digest = createHash('sha256').update(rowsOf(uri).join('\n')).digest('hex')
  assert.deepEqual([rowsOf(uri).length, digest], [URI_SIZE, URI_DIGEST])
})

test('a text that is too long is refused', () => {
  assert.throws(() => qrSymbol('x'.repeat(500)), /too long/)
})

const GATEHOUSE = [
  '#######.#...#.#######',
  '#.....#.##.#..#.....#',
  '#.###.#.#...#.#.###.#',
  '#.###.#..#.#..#.###.#',
  '#.###.#.##.##.#.###.#',
  '#.....#..##...#.....#',
  '#######.#.#.#.#######',
  '..........#..........',
  '#..######..#.#..#.###',
  '.#...#.....##.##..#..',
  '..#.###.#..###....###',
  '##.###......##.##.###',
  '.#..#.###.####..#...#',
  '........###.#.######.',
  '#######.#..#....#.#..',
  '#.....#.#.....##.####',
  '#.###.#.##....#.##...',
  '#.###.#.#...###...#..',
  '#.###.#..#####..#.###',
  '#.....#....##....####',
  '#######.#...##.#.....',
]
const URI_SIZE = 53
const URI_DIGEST = '71b4ac13c0dced4922b89d9d5ba1c81e295542ebe4245dc1bc305c54743d1205'
