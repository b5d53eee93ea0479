import type { FileFlaw } from './files.ts'
import type { PlanOrder } from './order.ts'
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
    ]),
    `${counts.map(([act, number]) => `${number} to ${act}`).join(', ')}, ${unchanged} unchanged.`,
  ]
}

/** One step that was done. */
export function doneLine(step: MoveStep): string {
  return `${DONE[step.act]} ${stepText(step)}`
}

/** The same for programs. */
export function planJson({ unchanged }: MovePlan, order: PlanOrder, done: boolean): string {
  const steps = order
    .flat()
    .map(({ kind, identity, act, file, changes }) => ({ act, kind: kind.name, id: identity, file, changes }))
  return JSON.stringify({ done, unchanged, steps }, null, 2)
}

function stepText({ kind, identity, act, body }: MoveStep): string {
  const fresh = act === 'create' && kind.name === 'clients' && body?.secret === undefined
  return `${kind.one} ${identity}${fresh ? ' (the target generates a secret, if it needs one)' : ''}`
}

/** A number with its noun. */
export function withNoun(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
