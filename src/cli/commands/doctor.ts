import { loadConfig } from '../../config/load.ts'
import type { Finding } from '../../model/nodes/health.ts'
import type { Command } from './command.ts'
import { openProgress } from './progress.ts'

const WARNINGS = 2

/** `gatehouse doctor`: looks an installation over and says what to do; changes nothing. */
export const DOCTOR_COMMAND: Command = {
  name: 'doctor',
  summary: 'check settings, store, clock, ports and certificates, and say what to do',
  options: { full: { type: 'boolean' }, json: { type: 'boolean' } },
  help: `  --full             reads every row of the store
  --json             for programs: one object with "findings"`,
  examples: [
    ['doctor', 'checks this installation'],
    ['doctor --full --json', 'reads every row of the store; for a script'],
  ],
  exits: { 0: 'nothing wrong', 1: 'errors, or the command line is wrong', 2: 'warnings only' },
  async run({ env, file, cwd, options, print }) {
    // Loaded here alone: a server does without.
    const { examine } = await import('../../process/examine.ts')
    const progress = openProgress({ unit: 'rows', json: options.json === true })
    progress.begin('doctor', 0)
    const load = () => loadConfig({ env, file, cwd })
    const findings = await examine(load, options.full === true, (rows) => progress.advance(rows))
    progress.end()
    findings.sort(bySeverity)
    if (options.json === true) print(JSON.stringify({ findings }))
    else for (const line of report(findings)) print(line)
    if (findings.some(({ severity }) => severity === 'error')) return 1
    return findings.some(({ severity }) => severity === 'warning') ? WARNINGS : 0
  },
}

const ORDER = ['error', 'warning', 'info']

function bySeverity(a: Finding, b: Finding): number {
  return ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity)
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

function report(findings: readonly Finding[]): string[] {
  const lines = findings.flatMap(({ severity, check, what, where, action }) => [
    `${severity.padEnd(7)}  ${check}: ${where}: ${what}`,
    `         ${action}`,
  ])
  const counts = ORDER.slice(0, 2).map((wanted) => findings.filter(({ severity }) => severity === wanted).length)
  return [...lines, `${counted(counts[0]!, 'error')}, ${counted(counts[1]!, 'warning')}`]
}
