import type { LegacyAlgorithm } from '../../model/keys/legacy-hash.ts'
import type { MoveStep } from '../moves/plan.ts'
import { warningsOf, withNoun } from '../moves/report-lines.ts'
import type { ImportRefusal } from './candidate.ts'

/** The changes that an import would make, or has made. */
export interface ImportReport {
  readonly steps: readonly MoveStep[]
  readonly changed: ReadonlyMap<MoveStep, readonly string[]>
  readonly refused: readonly ImportRefusal[]
  readonly kept: number
  readonly refreshTokens: number
  readonly words: ReadonlySet<string>
  readonly algorithms: ReadonlySet<LegacyAlgorithm>
  readonly orgs: ReadonlySet<string>
  /** Those that keys belong to there. */
  readonly organisations: ReadonlySet<string>
}

/** The report line by line: what is taken, what of it changes, what is refused and why, what is to be set. */
export function reportLines(report: ImportReport): string[] {
  const { steps, changed, refused, kept } = report
  const withChanges = steps.filter((step) => changed.get(step)!.length > 0).length
  return [
    ...steps.flatMap((step) => [
      `+ ${nameOf(step)}`,
      ...changed.get(step)!.map((change) => `    ${change}`),
      ...warningsOf(step).map((warning) => `    warning: ${warning}`),
    ]),
    ...refused.map(({ from, why }) => `! ${from}: ${why}`),
    ...(report.refreshTokens > 0
      ? [`! ${withNoun(report.refreshTokens, 'refresh token')} of OAuth clients: are not taken, people sign in again`]
      : []),
    `${steps.length} to take, of them ${withChanges} with changes, ${refused.length} refused, ${kept} there already.`,
    ...[...report.organisations].map((id) => `Keys of its organisation ${id} become keys of your organisation.`),
    ...settingLines(report),
  ]
}

/** The same for programs. */
export function reportJson(report: ImportReport, done: boolean, unserved: readonly string[] = []): string {
  const { steps, changed, refused, kept, refreshTokens } = report
  const taken = steps.map((step) => {
    const warnings = warningsOf(step)
    const { kind, identity: id, file: from } = step
    return { kind: kind.name, id, from, changes: changed.get(step)!, ...(warnings.length > 0 && { warnings }) }
  })
  return JSON.stringify(
    {
      ...{ done, taken, refused, kept, refresh_tokens: refreshTokens, settings: settingsFor(report) },
      ...(unserved.length > 0 && { unserved }),
    },
    null,
    2,
  )
}

/** Members of the settings that gateways and dashboards need for what is taken. */
function settingsFor({ algorithms, orgs, words }: ImportReport): Record<string, readonly string[]> {
  return {
    ...(algorithms.size > 0 && { 'gateway.hash_key_function_fallback': [...algorithms].sort() }),
    ...(orgs.size > 0 && { 'gateway.legacy_key_orgs': [...orgs].sort() }),
    ...(words.size > 0 && { 'compat.vendor_aliases': [...words].sort() }),
  }
}

const WHY: Readonly<Record<string, string>> = {
  'gateway.hash_key_function_fallback': 'its keys are found so, each until its first use',
  'gateway.legacy_key_orgs': 'and keys that people chose, which begin with it there',
  'compat.vendor_aliases': 'for clients and files that still use its word',
}

function settingLines(report: ImportReport): string[] {
  const settings = Object.entries(settingsFor(report))
  if (settings.length === 0) return []
  return [
    'Settings that are needed:',
    ...settings.map(([name, values]) => `  ${name} = ${JSON.stringify(values)}  (${WHY[name]})`),
  ]
}

/** The display name of an object: of a key, its name at the source. */
export function nameOf({ kind, identity, file }: MoveStep): string {
  return kind.name === 'keys' ? file : `${kind.one} ${identity}`
}
