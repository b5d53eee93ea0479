import { randomBytes } from 'node:crypto'
import { Fault, fault, toFault } from '../../errors/fault.ts'
import { openProgress, stoppable } from '../commands/progress.ts'
import { eachOf } from './dashboard.ts'
import type { TargetDashboard } from './kind.ts'
import type { PlanOrder } from './order.ts'
import { isSame, type MoveStep } from './plan.ts'

const AT_ONCE = 6
const LOCK_S = 60
const RENEW_MS = 15_000

/** Codes of what is wrong with one object. */
const SINGLE: ReadonlySet<string> = new Set(['dashboard_refused', 'target_changed'])

/** Input and callbacks of a run. */
interface SyncRun {
  readonly place: TargetDashboard
  readonly order: PlanOrder
  readonly done: (step: MoveStep) => void
  /** Receives a step that the dashboard refuses, and the others are done. Absent = the run ends there. */
  readonly refused?: (step: MoveStep, why: string) => void
  /** Aborted = no further step begins. */
  readonly stop: AbortSignal
}

/**
 * Does the steps of a plan, while no other run does: it holds the organisation's lock, and releases it. Before each step the object
 * is read again: an object that was changed since the plan was made is left alone, and the run ends. However it ends, each finished step
 * is complete, and another run continues from there.
 * @throws Fault `move_running`, `target_changed`, `move_stopped`, `dashboard_away`, `dashboard_refused`
 */
export async function runSteps({ place, order, done, refused, stop }: SyncRun): Promise<void> {
  const lock = await takeLock(place)
  let finished = 0
  const total = order.reduce((sum, group) => sum + group.length, 0)
  try {
    for (const group of order)
      await eachOf(group, AT_ONCE, async (step) => {
        if (stop.aborted)
          throw fault('move_stopped', `${finished} of ${total} steps are done; run it again to continue`)
        lock.check()
        try {
          await doStep(place, step)
        } catch (error) {
          const { code, message } = toFault(error)
          if (refused === undefined || !SINGLE.has(code)) throw error
          refused(step, message)
          return
        }
        finished++
        done(step)
      })
  } catch (error) {
    const { code, message } = toFault(error)
    if (code === 'internal' || code === 'move_stopped') throw error
    throw fault(code, `${message}\n${finished} of ${total} steps are done; run it again to continue`, error)
  } finally {
    await lock.end()
  }
}

async function doStep(place: TargetDashboard, step: MoveStep): Promise<void> {
  const { kind, identity, act, there, body } = step
  const what = `${kind.one} ${identity}`
  try {
    const now =
      there === undefined && !kind.findsNew
        ? undefined
        : await kind.find(place, { identity, at: there?.at ?? identity })
    if (there === undefined && now !== undefined) throw changed(what, 'was created by another user')
    if (there !== undefined && now === undefined) throw changed(what, 'was deleted by another user')
    if (there !== undefined && !isSame(kind, now!, there)) throw changed(what, 'was changed by another user')
    if (act === 'create') await kind.create(place, body!)
    else if (act === 'update') await kind.update(place, there!, body!)
    else await kind.remove(place, there!)
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'target_changed') throw error
    throw fault(error.code, `${what}: ${error.message}`, error)
  }
}

function changed(what: string, how: string): Fault {
  return fault('target_changed', `${what} ${how} since the plan was made`)
}

interface Lock {
  /** @throws Fault `move_running` when the lock was lost */
  check(): void
  end(): Promise<void>
}

/** Another run may hold the lock; that of a killed run expires after a minute. */
async function takeLock({ api }: TargetDashboard): Promise<Lock> {
  const run = randomBytes(16).toString('hex')
  const lost: { error?: unknown } = {}
  const take = async () => {
    const { status, json } = await api.ask('PUT', '/api/moves/lock', { run, seconds: LOCK_S })
    if (status < 300) return
    const message = String((json as { Message?: unknown } | undefined)?.Message ?? '')
    throw fault(
      status === 409 ? 'move_running' : 'dashboard_refused',
      message || `PUT /api/moves/lock was answered with ${status}`,
    )
  }
  await take()
  const renew = setInterval(() => {
    // A call that finds the dashboard away is retried; its answer shows whether another run holds the lock.
    take().catch((error) => {
      if (toFault(error).code === 'move_running') lost.error = error
    })
  }, RENEW_MS)
  return {
    check() {
      if (lost.error !== undefined) throw lost.error
    },
    async end() {
      clearInterval(renew)
      await api.ask('DELETE', `/api/moves/lock?run=${run}`).catch(() => undefined)
    },
  }
}

export interface NamedRun extends Pick<SyncRun, 'place' | 'order'> {
  /** That of the command. */
  readonly name: string
  readonly json: boolean
  readonly onDone: (step: MoveStep) => void
  /** Of a step that the dashboard refuses; absent = the run ends there. */
  readonly onRefused?: (step: MoveStep, why: string) => void
}

/** Does the steps of a plan and shows how far they are. A signal ends the run between two objects; another run continues from there. */
export async function runWithProgress({ place, order, name, json, onDone, onRefused }: NamedRun): Promise<void> {
  const progress = openProgress({ unit: 'objects', json })
  const done = (step: MoveStep) => {
    progress.clear()
    onDone(step)
    progress.advance(1)
  }
  const refused = (step: MoveStep, why: string) => {
    progress.clear()
    onRefused!(step, why)
    progress.advance(1)
  }
  progress.begin(
    name,
    order.reduce((sum, group) => sum + group.length, 0),
  )
  await stoppable('the run was stopped', (stop) =>
    runSteps({ place, order, stop, done, ...(onRefused && { refused }) }),
  ).finally(() => progress.end())
}
