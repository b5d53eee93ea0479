import type { FileFlaw } from './files.ts'
import type { PlanOrder } from './order.ts'
import { pathText } from './paths.ts'
import type { MovePlan, MoveStep } from './plan.ts'

const SIGN = { create: '+', update: '~', delete: '-' } as const
const DONE = { create: 'created', update: 'updated', delete: 'deleted' } as const

/** A flaw as a compiler would say it: `apis/orders.json:12: api_definition.proxy.listen_path: must be a text (field_invalid)`. */
export function flawLine({ name, file, line, field, why }: FileFlaw): string {
  const where = file === '' ? '' : `${file}:${line}: `
  return `${where}${field}: ${why} (${name})`
}

/** Describes a plan line by line, in the order in which it runs. */
export function planLines({ unchanged }: MovePlan, order: PlanOrder): string[] {
  const steps = order.flat()
  if (steps.length === 0) return [`Nothing to do: ${withNoun(unchanged, 'object')} as in the files.`]
  const counts = (['create', 'update', 'delete'] as const).map((act) => [
    act,
    steps.filter((step) => step.act === act).length,
  ])
  return [
    ...steps.flatMap((step) => [
      `${SIGN[step.act]} ${stepText(step)}`,
      ...step.changes.map((change) => `    ${change}`),
      ...warningsOf(step).map((warning) => `    warning: ${warning}`),
    ]),
    `${counts.map(([act, number]) => `${number} to ${act}`).join(', ')}, ${unchanged} unchanged.`,
  ]
}

/** Warnings about the object of a step, each in one line. */
export function warningsOf({ kind, body }: Pick<MoveStep, 'kind' | 'body'>): string[] {
  if (body === undefined) return []
  return (kind.warnings?.(body) ?? []).map(({ path, why }) => `${pathText(path)}: ${why}`)
}

/** One step that was done. */
export function doneLine(step: MoveStep): string {
  return `${DONE[step.act]} ${stepText(step)}`
}

/** The same for programs. */
export function planJson(
  { unchanged }: MovePlan,
  order: PlanOrder,
  done: boolean,
  unserved: readonly string[] = [],
): string {
  const steps = order.flat().map((step) => {
    const { kind, identity, act, file, changes } = step
    const warnings = warningsOf(step)
    return { act, kind: kind.name, id: identity, file, changes, ...(warnings.length > 0 && { warnings }) }
  })
  return JSON.stringify({ done, unchanged, steps, ...(unserved.length > 0 && { unserved }) }, null, 2)
}

function stepText({ kind, identity, act, body }: MoveStep): string {
  const fresh = act === 'create' && kind.name === 'clients' && body?.secret === undefined
  return `${kind.one} ${identity}${fresh ? ' (the target generates a secret, if it needs one)' : ''}`
}

/** A number with its noun. */
export function withNoun(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
