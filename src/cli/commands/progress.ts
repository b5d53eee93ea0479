import { fault } from '../../errors/fault.ts'

/** Without a terminal a line is written this often. */
const LINE_EVERY_MS = 10_000
const BAR_EVERY_MS = 200
const BAR_WIDTH = 24

/** How far a long command is. */
export interface Progress {
  /** Begins a step: how many there are to do, 0 = not known. */
  begin(step: string, total: number): void
  advance(count: number): void
  /** Makes room for a line of another kind: the bar is drawn again below it. */
  clear(): void
  /** Ends the bar: what is written next has a line of its own. */
  end(): void
}

interface ProgressOptions {
  /** Plural of the things that are counted: `rows`. */
  readonly unit: string
  /** True: a JSON object a line, for programs. */
  readonly json: boolean
  readonly stream?: { write(text: string): unknown; readonly isTTY?: boolean | undefined }
  /** Milliseconds, monotonic. */
  readonly now?: () => number
}

/**
 * Shows on standard error how far a command is: on a terminal a bar with the rate and the time left, elsewhere a line every 10 s, for
 * programs `{"step", "done", "total", "rate", "left_s"}` as often. Standard output is left to the result.
 */
export function openProgress({ unit, json, ...options }: ProgressOptions): Progress {
  const { stream = process.stderr, now = () => performance.now() } = options
  const isBar = stream.isTTY === true && !json
  let step = ''
  let [total, done, beganMs, shownMs] = [0, 0, 0, 0]
  let isDrawn = false

  const show = (atMs: number) => {
    shownMs = atMs
    const rate = atMs > beganMs ? (done * 1000) / (atMs - beganMs) : 0
    const leftS = total > done && rate > 0 ? Math.ceil((total - done) / rate) : undefined
    if (json) {
      const line = { step, done, total, rate: Math.round(rate), ...(leftS !== undefined && { left_s: leftS }) }
      return void stream.write(`${JSON.stringify(line)}\n`)
    }
    const parts = [
      `${step}: ${grouped(done)}${total > 0 ? ` of ${grouped(total)}` : ''} ${unit}`,
      ...(total > 0 ? [`${percentOf(done, total)} %`] : []),
      `${grouped(Math.round(rate))}/s`,
      ...(leftS === undefined ? [] : [`${durationOf(leftS)} left`]),
    ]
    if (!isBar) return void stream.write(`${parts.join(', ')}\n`)
    const filled = total > 0 ? Math.round((BAR_WIDTH * Math.min(done, total)) / total) : 0
    stream.write(`\r[${'#'.repeat(filled).padEnd(BAR_WIDTH)}] ${parts.join(', ')}\u001b[K`)
    isDrawn = true
  }
  const clear = () => {
    if (isDrawn) stream.write('\r\u001b[K')
    isDrawn = false
  }
  const end = () => {
    if (isDrawn) stream.write('\n')
    isDrawn = false
  }
  return {
    begin(name, count) {
      end()
      step = name
      ;[total, done] = [count, 0]
      beganMs = now()
      shownMs = beganMs
    },
    advance(count) {
      done += count
      const atMs = now()
      if (atMs - shownMs >= (isBar ? BAR_EVERY_MS : LINE_EVERY_MS)) show(atMs)
    },
    clear,
    end,
  }
}

/**
 * Runs what ends cleanly when a signal comes: SIGINT (Ctrl-C) and SIGTERM abort `stop`, whose reason is the fault `command_stopped` with
 * `what` was left.
 */
export async function stoppable<T>(what: string, run: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const onSignal = () => stop.abort(fault('command_stopped', what))
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  try {
    return await run(stop.signal)
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

function percentOf(done: number, total: number): number {
  return Math.min(100, Math.floor((100 * done) / total))
}

/** `1,234,567`. */
function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** `1:02:03`, `2:03`. */
function durationOf(seconds: number): string {
  const two = (n: number) => String(n).padStart(2, '0')
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}
