import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { type End, type Started, Supervisor, type SupervisorOptions } from '../../src/runtime/supervisor.ts'
import { eventually } from '../worlds/base/eventually.ts'

/** The behaviour of a start. `serves`: until it is asked to end; `deaf`: it does not hear that; `busy`: nor anything else, ever. */
type Doing =
  | 'not made'
  | 'throws'
  | 'exits'
  | 'refuses'
  | 'never ready'
  | 'crashes'
  | 'ends'
  | 'serves'
  | 'deaf'
  | 'busy'

/** The same program as a thread and as a process: what it does is its argument. */
const PROGRAM = `
  const does = process.env.DOES
  const { parentPort } = await import('node:worker_threads')
  const tell = (word) => (parentPort === null ? process.send(word) : parentPort.postMessage(word))
  const hear = (heard) => (parentPort === null ? process : parentPort).on('message', heard)
  if (does === 'throws') throw new Error('thrown at start')
  if (does === 'exits') process.exit(3)
  setInterval(() => {}, 1000)
  if (does === 'refuses') tell('refused')
  if (['crashes', 'ends', 'serves', 'deaf', 'busy'].includes(does)) tell('ready')
  if (does === 'crashes') setImmediate(() => { throw new Error('crashed') })
  if (does === 'ends') setImmediate(() => process.exit(0))
  if (does === 'serves') hear(() => process.exit(0))
  if (does === 'deaf') hear(() => {})
  if (does === 'busy') setImmediate(() => { for (;;); })
`
const URL_OF = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`)

interface Child {
  readonly child: Worker | ReturnType<typeof fork>
  readonly send: () => unknown
  readonly kill: () => unknown
}

const CHILDREN = {
  thread(does: Doing): Child {
    const child = new Worker(URL_OF, { env: { DOES: does } })
    return { child, send: () => child.postMessage('stop'), kill: () => child.terminate() }
  },
  process(does: Doing): Child {
    const code = ['--input-type=module', '--eval', PROGRAM]
    const child = fork('-', [], { execArgv: code, env: { DOES: does }, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    return { child, send: () => child.connected && child.send('stop', () => {}), kill: () => child.kill('SIGKILL') }
  },
} as const

/** Starts what does these things one after the other, then the last one for ever. */
function scene(t: TestContext, sort: keyof typeof CHILDREN, doings: readonly Doing[], more: object = {}) {
  const alive = new Set<Child>()
  const waits: number[] = []
  const found: string[] = []
  let starts = 0
  let isOver = false
  const begin = (): Started<number> => {
    const does = doings[Math.min(starts++, doings.length - 1)]!
    if (does === 'not made' || isOver) throw new Error('no descriptors')
    const made = CHILDREN[sort](does)
    alive.add(made)
    const start = starts
    const ended = new Promise<End>((resolve) => {
      made.child.on('exit', (code: number | null) => {
        alive.delete(made)
        resolve({ how: `with ${code}`, kind: code === 0 ? 'orderly' : 'failed' })
      })
    })
    const ready = new Promise<number>((resolve, reject) => {
      made.child.on('error', () => {})
      made.child.on('message', (word: unknown) => (word === 'ready' ? resolve(start) : reject(new Error('refused'))))
      void ended.then(({ how }) => reject(new Error(`ended ${how}`)))
    })
    return { ready, ended, stop: () => void made.send(), kill: () => void made.kill() }
  }
  const options: SupervisorOptions<number> = {
    ...{ begin, firstWaitMs: 1, mostWaitMs: 4, stopWithinMs: 60_000, settledAfterMs: Number.POSITIVE_INFINITY },
    // One that does not stay away fails its test, and does not keep it.
    isBackground: true,
    report(report) {
      found.push(report.event)
      if ('waitMs' in report) waits.push(report.waitMs)
    },
    ...more,
  }
  const supervisor = new Supervisor(options)
  t.after(() => {
    isOver = true
    return Promise.all([...alive].map(({ kill }) => kill()))
  })
  return { supervisor, alive, waits, found, starts: () => starts }
}

for (const sort of ['thread', 'process'] as const) {
  test(`a ${sort} is started again whatever ended it or kept it from starting`, async (t) => {
    const doings: Doing[] = ['crashes', 'not made', 'throws', 'not made', 'exits', 'refuses', 'ends', 'serves']
    const { supervisor, alive, waits, found, starts } = scene(t, sort, doings)
    assert.equal(await supervisor.start(), 1)
    await eventually('the last one serves', () => supervisor.up && supervisor.value === doings.length)
    assert.equal(starts(), doings.length)
    assert.equal(alive.size, 1, 'nothing is left of the others')
    const missing = 'not started'
    assert.deepEqual(found, [
      ...['ended', missing, missing, missing, missing, missing, 'started again', 'ended', 'started again'],
    ])
    // Doubling to the most; and none after an end in order.
    assert.deepEqual(waits, [1, 2, 2, 4, 4, 4, 0])
    await supervisor.stop()
    assert.deepEqual([supervisor.up, alive.size, starts()], [false, 0, doings.length])
  })

  for (const does of ['not made', 'throws', 'exits', 'refuses', 'never ready'] as const)
    test(`a ${sort} whose first start fails (${does}) says so, and is no more`, async (t) => {
      const { supervisor, alive, found, starts } = scene(
        t,
        sort,
        [does],
        does === 'never ready' ? { startWithinMs: 50 } : {},
      )
      await assert.rejects(supervisor.start(), /no descriptors|refused|ended/)
      assert.deepEqual([supervisor.up, alive.size, found, starts()], [false, 0, [], 1])
      await supervisor.stop()
    })

  for (const does of ['serves', 'deaf', 'busy'] as const)
    test(`a ${sort} that is stopped is gone when that is answered (${does})`, async (t) => {
      const { supervisor, alive, found } = scene(t, sort, [does], { stopWithinMs: does === 'serves' ? 60_000 : 50 })
      await supervisor.start()
      await supervisor.stop()
      assert.deepEqual([supervisor.up, alive.size, found], [false, 0, []])
    })

  for (const again of ['not made', 'throws', 'refuses', 'never ready', 'crashes', 'serves', 'busy'] as const)
    test(`a ${sort} that is stopped while it is started again (${again}) stays away`, async (t) => {
      const { supervisor, alive, starts } = scene(t, sort, ['crashes', again], { stopWithinMs: 50 })
      await supervisor.start()
      await eventually('the second start', () => starts() >= 2)
      await supervisor.stop()
      const stood = starts()
      // Longer than the longest wait for a next start.
      const another = scene(t, sort, ['serves'])
      await another.supervisor.start()
      await another.supervisor.stop()
      assert.deepEqual([supervisor.up, alive.size, starts()], [false, 0, stood])
    })
}

test('a failing process is given up; orderly ends do not count', async (t) => {
  const given: unknown[] = []
  const giveUp = { after: 3, run: (failures: number, { how }: End) => void given.push([failures, how]) }
  const doings: Doing[] = [
    'crashes',
    'not made',
    'not made',
    'not made',
    'not made',
    'crashes',
    'ends',
    'crashes',
    'exits',
  ]
  const { supervisor, starts } = scene(t, 'thread', doings, { giveUp })
  await supervisor.start()
  await eventually('it is given up', () => given.length === 1)
  assert.deepEqual([given, starts(), supervisor.up], [[[3, 'with 3']], doings.length + 1, false])
  await supervisor.stop()
})

test('one that was in order for long enough begins with the first wait again', async (t) => {
  const { supervisor, waits } = scene(t, 'thread', ['crashes', 'crashes', 'crashes', 'serves'], { settledAfterMs: 0 })
  await supervisor.start()
  await eventually('the last start', () => supervisor.value === 4)
  assert.deepEqual(waits, [1, 1, 1])
  await supervisor.stop()
})
