import { makeLimit } from '../src/model/limits/limit.ts'
import { Windows } from '../src/model/limits/window.ts'
import { MemoryCounters } from '../src/store/memory/counters.ts'

// Measures the cost of the limiter: run with --expose-gc for the memory figures. Bounded: about ten seconds, half a gigabyte.
const CALLS = 5_000_000
const KEYS = 1_000_000
const gc = (globalThis as { gc?: () => void }).gc

console.log(`node ${process.version}`)
hot()
quiet()
randomKeys()
wholeTake()

function report(name: string, value: number, unit: string): void {
  console.log(`${name.padEnd(58)} ${value.toFixed(1).padStart(8)} ${unit}`)
}

/** Nanoseconds per call of the best of five runs. */
function best(calls: number, run: (calls: number) => void): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5; round++) {
    const start = process.hrtime.bigint()
    run(calls)
    least = Math.min(least, Number(process.hrtime.bigint() - start) / calls)
  }
  return least
}

function hot(): void {
  const windows = new Windows()
  const slot = windows.claim()
  let call = 0
  const take = (max: number) => (calls: number) => {
    for (let i = 0; i < calls; i++) {
      const now = call++ >> 6
      if (windows.room(slot, max, 1000, now) > 0) windows.use(slot, max, 1000)
    }
  }
  report('one hot key, limit 1000 a second, room and use', best(CALLS, take(1000)), 'ns')
  report('one hot key, limit 100,000 a second, room and use', best(CALLS, take(100_000)), 'ns')
}

function memoryMb(): number {
  gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

function filled(): { windows: Windows; slots: Int32Array } {
  const windows = new Windows()
  const slots = new Int32Array(KEYS)
  for (let i = 0; i < KEYS; i++) {
    const slot = windows.claim()
    slots[i] = slot
    if (windows.room(slot, 100, 60_000, i >> 10) > 0) windows.use(slot, 100, 60_000)
  }
  return { windows, slots }
}

function quiet(): void {
  const before = memoryMb()
  const { windows } = filled()
  report('a million quiet keys, slots and rings', memoryMb() - before, `MB (${windows.size} slots)`)
  const counters = new MemoryCounters()
  const empty = memoryMb()
  for (let i = 0; i < KEYS; i++)
    counters.take([makeLimit('rate', `${i.toString(16).padStart(64, '0')}|`, 100, 600_000)], { wall: i, mono: i >> 10 })
  report(
    'the same in MemoryCounters, ids of 65 characters included',
    memoryMb() - empty,
    `MB (${counters.size.rates} ids)`,
  )
}

function randomKeys(): void {
  const { windows, slots } = filled()
  const order = new Int32Array(KEYS)
  let state = 1
  for (let i = 0; i < KEYS; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    order[i] = slots[state % KEYS]!
  }
  let now = 1000
  const run = (calls: number) => {
    now++
    for (let i = 0; i < calls; i++) {
      const slot = order[i]!
      if (windows.room(slot, 100, 60_000, now) > 0) windows.use(slot, 100, 60_000)
    }
  }
  report('a random key of a million, room and use', best(KEYS, run), 'ns')
  const plain = new Float64Array(6_000_000)
  let sum = 0
  const read = (calls: number) => {
    for (let i = 0; i < calls; i++) sum += plain[order[i]! * 6]!
  }
  report('for comparison: one plain read of a random place in 48 MB', best(KEYS, read) + sum, 'ns')
}

function wholeTake(): void {
  const counters = new MemoryCounters()
  const limits = [
    makeLimit('rate', 'api|a', 1_000_000, 1000),
    makeLimit('rate', 'k|', 1000, 1000),
    makeLimit('quota', 'k|', 1e12, 1e9),
  ]
  let call = 0
  const now = { wall: 0, mono: 0 }
  const run = (list: typeof limits) => (calls: number) => {
    for (let i = 0; i < calls; i++) {
      now.mono = call++ >> 6
      counters.take(list, now)
    }
  }
  report('Counters.take of one rate', best(CALLS, run(limits.slice(1, 2))), 'ns')
  report('Counters.take of API rate, key rate and quota', best(CALLS, run(limits)), 'ns')
}
