import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { eventually } from '../../worlds/base/eventually.ts'
import { startChild } from '../../worlds/store/child.ts'

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Another user's process is there all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

test('a throw-away server goes with a process that is killed, and so does its folder', async () => {
  const child = startChild('postgres-starter.ts', [])
  const [, pid, folder] = (await child.line('started')).split(' ') as [string, string, string]
  assert.ok(isRunning(Number(pid)))
  assert.ok(existsSync(folder))
  child.process.kill('SIGKILL')
  await child.ended
  await eventually('the server ends', () => !isRunning(Number(pid)))
  await eventually('its folder is deleted', () => !existsSync(folder))
})
