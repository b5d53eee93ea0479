import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fromDebian } from '../../../scripts/debian.mjs'

const PLACE = '/usr/bin/promtool'

/** Runs `promtool` of Debian's Prometheus, with a page as its input. Answers its status and all that it said. */
export async function promtool(words: readonly string[], input = ''): Promise<{ status: number | null; said: string }> {
  const program = await fromDebian('prometheus', () => (existsSync(PLACE) ? PLACE : undefined))
  const { status, stdout, stderr } = spawnSync(program, words, { input, encoding: 'utf8' })
  return { status, said: stdout + stderr }
}
