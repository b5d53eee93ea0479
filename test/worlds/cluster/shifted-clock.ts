// Loaded into a node before everything else (`--import`): its wall clock is wrong by CLOCK_SHIFT_MS, as that of a machine may be.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS)
const RightDate = Date
const rightNow = Date.now

class ShiftedDate extends RightDate {
  constructor(...words: [] | [string | number]) {
    super(words.length === 0 ? rightNow() + shiftMs : words[0])
  }

  static override now(): number {
    return rightNow() + shiftMs
  }
}

if (!Number.isFinite(shiftMs)) throw new Error('CLOCK_SHIFT_MS must be a number of milliseconds')
globalThis.Date = ShiftedDate as DateConstructor
