import assert from 'node:assert/strict'
import { collectGarbage } from '../base/garbage.ts'
import type { Gate } from './gate.ts'
import type { Origin } from './origin.ts'
import { Client, get, statusOf, until } from './raw.ts'

/** Waits until nothing is left of what a test did: no open connection, no exchange without its `done`. */
export async function nothingLeft(gate: Gate): Promise<void> {
  await until('every exchange is done', () => gate.inFlight() === 0)
  await until('no connection stays open', () => gate.listener.connections() === 0)
}

/** Waits until the gate keeps at most `idle` connections to the upstream. */
export async function legsEnd(origin: Origin, idle = 0): Promise<void> {
  await until(`at most ${idle} upstream connections stay open`, () => origin.open() <= idle)
}

/** Another caller is served at the same time. */
export async function othersAreServed(gate: Gate): Promise<void> {
  const other = await Client.connect(gate.port)
  assert.equal(statusOf(await other.ask(get('/other'))), 200)
  other.destroy()
}

/** Bytes that buffers hold now, garbage not counted. Costs a full collection. */
export function bufferBytes(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}
