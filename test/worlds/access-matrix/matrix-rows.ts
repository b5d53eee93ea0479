import type { Route } from '../../../src/dashboard/routes/route.ts'
import type { Answer } from '../base/client.ts'
import { spread } from '../base/spread.ts'
import { ACTORS, type ActorKind, EXPECTED, type Expectation, type Outcome, outcomeOf } from './expectations.ts'
import { OURS, SECRET, type World } from './matrix-world.ts'

/** One call of the matrix. */
export interface Row {
  readonly route: Route
  readonly expected: Expectation
  readonly kind: ActorKind
  readonly outcome: Outcome
}

/** Method and path of a route without the names of its placeholders: the key of its expectation. */
export function callOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`
}

/** The rows of a route that says what it should; none for one without an expectation. */
export function rowsOf(route: Route, kinds: readonly ActorKind[] = ACTORS): Row[] {
  const expected = EXPECTED.get(callOf(route))
  if (expected === undefined) return []
  return kinds.flatMap((kind) => {
    const outcome = outcomeOf(route.method, expected, kind)
    return outcome === undefined ? [] : [{ route, expected, kind, outcome }]
  })
}

/** Who is tried at each route in every run: the others take turns outside long runs. */
const EVERYWHERE: readonly ActorKind[] = [
  'nobody',
  'other permission',
  'read-only',
  'write',
  'admin of another organisation',
  'non-owner',
]
const SPREAD = 3

/** The rows of a route that this run tries. `turn`: the number of the route. */
export function triedRowsOf(route: Route, turn: number): Row[] {
  const everywhere = rowsOf(route, EVERYWHERE)
  const inTurn = rowsOf(route).filter(({ kind }) => !EVERYWHERE.includes(kind))
  return [...everywhere, ...spread(inTurn, turn, SPREAD)]
}

const ABOUT_OWNED: readonly ActorKind[] = ['owner', 'group owner', 'non-owner', 'admin about what others own']
const SELF: readonly ActorKind[] = ['self', 'unbounded self']

/** Makes the call of a row; answers what is wrong with what came of it, or undefined. Puts the world back. */
export async function tryRow(world: World, { route, expected, kind, outcome }: Row): Promise<string | undefined> {
  const as = await world.actor(kind, expected)
  const things = ABOUT_OWNED.includes(kind) ? world.owned : world.open
  let number = 0
  const path = route.path.replace(/\{[^}]*\}/g, () => {
    const at = number++
    const own = SELF.includes(kind) && at === (expected.own ?? expected.onlyOwn) && typeof as === 'object'
    return encodeURIComponent(own ? as.id : things[expected.names[at] ?? 'none'])
  })
  const revision = await world.store.documents.revision()
  const before = outcome === 'hidden' ? await world.fingerprint() : ''
  const noted = isRecorded(outcome) ? await lastNote(world) : undefined
  const body = route.method === 'GET' ? undefined : (expected.body ?? {})
  const told = (wrong: string) => `${callOf(route)} as ${kind} must be ${outcome}, but ${wrong}`
  try {
    const answer = await world.call(route.method, path + (expected.query ?? ''), { as, body })
    const wrong =
      flawOf(outcome, expected, path, answer) ??
      leakOf(world, kind, outcome, expected, answer) ??
      (await unrecorded(world, outcome, noted)) ??
      (await changeOf(world, outcome, revision, before))
    return wrong && told(`${wrong}: ${answer.status} ${answer.text.slice(0, 200)}`)
  } catch (error) {
    // The finding of the harness: a failure, or an answer of another form than the route declares.
    return told((error as Error).message)
  } finally {
    await world.restore()
  }
}

const NOT_AUTHORISED = '{"Status":"Error","Message":"Not authorised","Meta":null}'
const DENIED = 'access denied: You do not have permission to access'

function flawOf(outcome: Outcome, { hiddenIs }: Expectation, path: string, answer: Answer): string | undefined {
  const { status, text } = answer
  const stranger = status === 401 && text === NOT_AUTHORISED
  const denied = status === 403 && text.includes(DENIED)
  switch (outcome) {
    case 'stranger':
    case 'others':
      return stranger ? undefined : 'is not refused as a stranger is'
    case 'forbidden': {
      const exact = JSON.stringify({ Status: 'Error', Message: `${DENIED}  ${path}`, Meta: null })
      return status === 403 && text === exact ? undefined : 'is not refused with the path'
    }
    case 'hidden':
      if (stranger || denied) return 'is told that there is something'
      return status >= 400 || status === hiddenIs ? undefined : 'is answered'
    case 'refused':
      return status >= 400 && status < 500 ? undefined : 'is answered'
    case 'looked at':
      return stranger || status >= 500 ? 'is refused as a stranger is' : undefined
    default:
      if (status >= 500) return 'fails'
      return stranger || denied ? 'is refused' : undefined
  }
}

/** Members of the organisation who own nothing: also in lists, counts and searches they see nothing of what others own. */
const OWNS_NOTHING: readonly ActorKind[] = [
  'other permission',
  'read-only',
  'write',
  'group member',
  'member whose group lacks it',
  'self',
  'non-owner',
]

/** They read what their rights let them read, and none of its secrets. */
const WRITES_NOTHING: readonly ActorKind[] = [
  'read-only',
  'unbounded reader',
  'unbounded writer',
  'self',
  'unbounded self',
]

/** The names of things of other owners and organisations that an answer contains: none may. */
function leakOf(
  { telltales }: World,
  kind: ActorKind,
  outcome: Outcome,
  { namesOwned }: Expectation,
  { text }: Answer,
): string | undefined {
  const foreign = kind === 'admin of another organisation' && outcome !== 'hidden'
  if (foreign && text.includes(OURS)) return 'reads what belongs to another organisation'
  if (WRITES_NOTHING.includes(kind) && text.includes(SECRET)) return 'reads a secret of what it may not write'
  const tells = OWNS_NOTHING.includes(kind) && telltales.some((one) => text.includes(one))
  return tells && namesOwned !== true ? 'reads what others own' : undefined
}

const RECORDED: Readonly<Partial<Record<Outcome, string>>> = { forbidden: 'permission_missing', others: 'not_owner' }

/** True where the audit log is checked: for the refusal, or for none. */
function isRecorded(outcome: Outcome): boolean {
  return RECORDED[outcome] !== undefined || outcome === 'looked at'
}

async function lastNote({ store }: World) {
  const { rows } = await store.audit.list({ limit: 1 })
  return rows[0]
}

/** A refusal for missing permissions leaves an audit entry. */
async function unrecorded(
  world: World,
  outcome: Outcome,
  before: Awaited<ReturnType<typeof lastNote>>,
): Promise<string | undefined> {
  if (!isRecorded(outcome)) return undefined
  const code = RECORDED[outcome]
  const last = await lastNote(world)
  const recorded = last?.id === before?.id ? undefined : last?.detail.refused
  return recorded === code ? undefined : `in the audit log stands: ${recorded}`
}

async function changeOf(world: World, outcome: Outcome, revision: number, before: string): Promise<string | undefined> {
  if (outcome === 'admitted') return undefined
  if (outcome === 'hidden')
    return (await world.fingerprint()) === before ? undefined : 'changes what belongs to another organisation'
  return (await world.store.documents.revision()) === revision ? undefined : 'changes something'
}
