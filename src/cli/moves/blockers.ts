import { isObject, type JsonObject } from '../../model/json/json.ts'
import { type FileFlaw, located } from './files.ts'
import type { MoveFlaw, MoveFlawName, MoveKind, ObjectReference, RemoteObject, TargetDashboard } from './kind.ts'
import { certificatesIn, documentIn } from './kind-apis.ts'
import { MOVE_KINDS } from './kinds.ts'
import type { MoveStep, TargetState } from './plan.ts'

/** The input of the checks before anything is written, so that nothing is left half done. */
export interface PreflightInput {
  readonly dir: string
  readonly place: TargetDashboard
  readonly steps: readonly MoveStep[]
  readonly current: TargetState
  /** Objects may name others that are not there. */
  readonly allowMissing: boolean
}

const BATCH = 50
const MISSING: Readonly<Record<ObjectReference['to'], MoveFlawName>> = {
  apis: 'api_missing',
  policies: 'policy_missing',
  labels: 'label_missing',
  hooks: 'hook_missing',
  documentation: 'documentation_missing',
}
const TAKEN: Readonly<Record<string, MoveFlawName>> = {
  api: 'api_id_taken',
  place: 'listen_path_taken',
  definition: 'definition_refused',
  client: 'client_id_taken',
  key: 'key_taken',
}

/** Everything that blocks a plan, apart from errors in the files alone. @throws Fault `dashboard_away`, `dashboard_refused` */
export async function findBlockers(survey: PreflightInput): Promise<FileFlaw[]> {
  const written = survey.steps.filter((step): step is MoveStep & { body: JsonObject } => step.body !== undefined)
  const found: FileFlaw[] = []
  for (const step of written)
    found.push(...located(survey.dir, step.file, [...step.kind.flaws(step.body), ...formatFlaws(step)]))
  if (found.length > 0) return found
  if (!survey.allowMissing) found.push(...(await missingOf(survey, written)))
  found.push(...(await certificatesMissing(survey, written)), ...(await inUse(survey)))
  // The installation is asked last, and only about objects that may otherwise be written.
  return found.length > 0 ? found : installationSays(survey, written)
}

type Written = MoveStep & { readonly body: JsonObject }

function formatFlaws({ kind, body, there }: Written): MoveFlaw[] {
  if (kind.name !== 'apis' || there === undefined) return []
  const [is, was] = [documentIn(body).format, documentIn(there.body).format]
  if (is === was) return []
  const why = `is ${is} here and ${was} in the target: convert it there (POST /api/apis/migrate), or delete it first`
  return [{ name: 'format_differs', path: [is === 'oas' ? 'oas' : 'api_definition'], why }]
}

async function missingOf(survey: PreflightInput, written: readonly Written[]): Promise<FileFlaw[]> {
  const known = new Map<ObjectReference['to'], Promise<ReadonlyMap<string, JsonObject>>>()
  const found: FileFlaw[] = []
  for (const { kind, file, body, there } of written) {
    const before = new Set((there === undefined ? [] : kind.references(there.body)).map(({ to, id }) => `${to} ${id}`))
    const flaws: MoveFlaw[] = []
    for (const reference of kind.references(body)) {
      const { to, id, path, value } = reference
      known.set(to, known.get(to) ?? afterwards(survey, to))
      const target = (await known.get(to)!).get(id)
      const why = target === undefined ? `the target has no ${oneOf(to)} ${id}, and none is moved with it` : undefined
      // References that are dangling in the target already may stay so.
      if (why !== undefined && !before.has(`${to} ${id}`)) flaws.push({ name: MISSING[to], path, why })
      if (target !== undefined && value !== undefined && !allows(target, value))
        flaws.push({ name: 'field_invalid', path, why: `${value} is none of the values of this label` })
    }
    found.push(...located(survey.dir, file, flaws))
  }
  return found
}

/** The objects of a kind that exist once the plan has run. */
async function afterwards(
  { place, steps, current }: PreflightInput,
  to: ObjectReference['to'],
): Promise<Map<string, JsonObject>> {
  const kind = MOVE_KINDS.find(({ name }) => name === (to === 'documentation' ? 'portal documentation' : to))!
  const there =
    current.get(kind) ?? new Map((await kind.list(place)).map((each): [string, RemoteObject] => [each.identity, each]))
  const bodies = new Map([...there].map(([identity, { body }]) => [identity, body]))
  for (const step of steps) {
    if (step.kind !== kind) continue
    if (step.body === undefined) bodies.delete(step.identity)
    else bodies.set(step.identity, step.body)
  }
  return bodies
}

function allows(label: JsonObject, value: string): boolean {
  return !Array.isArray(label.values) || label.values.length === 0 || label.values.includes(value)
}

function oneOf(to: ObjectReference['to']): string {
  return MOVE_KINDS.find(({ name }) => name === to || name === `portal ${to}`)!.one
}

/** Objects that the dashboard would not delete: labels that APIs have, groups with members. */
async function inUse(survey: PreflightInput): Promise<FileFlaw[]> {
  const gone = (name: string) => survey.steps.filter(({ kind, act }) => act === 'delete' && kind.name === name)
  const [labels, groups] = [gone('labels'), gone('groups')]
  const apis = labels.length === 0 ? [] : [...(await afterwards(survey, 'apis')).values()]
  const users = groups.length === 0 ? [] : await membersIn(survey.place)
  const carriers = (key: string) => apis.filter(({ labels: own }) => isObject(own) && Object.hasOwn(own, key)).length
  const found = [
    ...labels.map((step) => ({ step, number: carriers(step.identity), by: 'APIs carry it' })),
    ...groups.map((step) => ({
      step,
      number: users.filter((id) => id === step.there!.at).length,
      by: 'users are in it',
    })),
  ]
  return found
    .filter(({ number }) => number > 0)
    .map(({ step: { kind, identity }, number, by }): FileFlaw => {
      const why = `${identity} cannot be deleted, ${number} ${by}: change these first, or leave it with --no-delete`
      return { name: 'in_use', file: '', line: 0, field: kind.one, why }
    })
}

/** The groups of users, once per member; none where the caller may not see users. */
async function membersIn({ api }: TargetDashboard): Promise<string[]> {
  const { users } = (await api.find('/api/users?p=-1').catch(() => undefined)) ?? {}
  return Array.isArray(users) ? users.filter(isObject).map(({ group_id: id }) => String(id)) : []
}

async function certificatesMissing({ dir, place }: PreflightInput, written: readonly Written[]): Promise<FileFlaw[]> {
  const naming = written.filter(({ kind, body }) => kind.name === 'apis' && certificatesIn(body).length > 0)
  if (naming.length === 0) return []
  const { certs } = await place.api.get('/api/certs?p=-1')
  const there = new Set(Array.isArray(certs) ? certs.map(String) : [])
  const isThere = (name: string) => there.has(name) || there.has(place.orgId + name)
  return naming.flatMap(({ file, body }) => {
    const flaws = certificatesIn(body)
      .filter((name) => !isThere(name))
      .map((name): MoveFlaw => {
        return {
          name: 'certificate_missing',
          path: [],
          why: `the target has no certificate ${name}: add it there first`,
        }
      })
    return located(dir, file, flaws)
  })
}

/** True where the target stores APIs that want a listen path which another one has. Asked only when APIs are written. */
export async function targetAllowsDuplicates({ api }: TargetDashboard, steps: readonly MoveStep[]): Promise<boolean> {
  if (!steps.some(({ kind, act }) => kind.name === 'apis' && act !== 'delete')) return false
  const { settings } = await api.send('POST', '/api/moves/check', {})
  return isObject(settings) && settings.enable_duplicate_slugs === true
}

/** The checks that only the installation can make: what its other organisations have, what it accepts, and how it is set. */
async function installationSays(
  { dir, place, steps }: PreflightInput,
  written: readonly Written[],
): Promise<FileFlaw[]> {
  const of = (kind: string, act?: MoveStep['act']) =>
    written.filter((step) => step.kind.name === kind && (act === undefined || step.act === act))
  const [apis, clients, keys] = [of('apis'), of('clients', 'create'), of('keys', 'create')]
  const policies = of('policies', 'create')
  if (apis.length + clients.length + keys.length + policies.length === 0 || steps.length === 0) return []
  const found: FileFlaw[] = []
  for (let start = 0; start === 0 || start < Math.max(apis.length, clients.length, keys.length); start += BATCH) {
    const part = <T>(list: readonly T[]) => list.slice(start, start + BATCH)
    const answer = await place.api.send('POST', '/api/moves/check', {
      apis: part(apis).map(({ body }) => ({ ...definitionOf(body) })),
      client_ids: part(clients).map(({ identity }) => identity),
      key_hashes: part(keys).map(({ identity }) => identity),
      // Objects that come with another part may be referred to as well.
      api_ids: apis.map(({ identity }) => identity),
      policy_ids: policies.map(({ identity }) => identity),
    })
    const settings = isObject(answer.settings) ? answer.settings : {}
    if (start === 0 && settings.allow_explicit_policy_id === false)
      found.push(...policies.flatMap((step) => lost(dir, step)))
    for (const obstacle of Array.isArray(answer.obstacles) ? answer.obstacles.filter(isObject) : []) {
      const step = stepOf(obstacle, { apis, clients, keys })
      const flaw: MoveFlaw = {
        name: TAKEN[String(obstacle.kind)] ?? 'definition_refused',
        path: [],
        why: String(obstacle.why),
      }
      if (step !== undefined) found.push(...located(dir, step.file, [{ ...flaw, path: [step.kind.identityAt] }]))
    }
  }
  return found
}

function definitionOf(body: JsonObject): JsonObject {
  const { format, definition } = documentIn(body)
  return { format, definition }
}

function stepOf({ kind, id }: JsonObject, by: Readonly<Record<'apis' | 'clients' | 'keys', readonly Written[]>>) {
  const among = kind === 'client' ? by.clients : kind === 'key' ? by.keys : by.apis
  return among.find(({ identity }) => identity === id) ?? among[0]
}

function lost(dir: string, { file, kind }: Written): FileFlaw[] {
  const why = 'the target generates policy IDs: set dashboard.allow_explicit_policy_id there'
  return located(dir, file, [{ name: 'policy_id_lost', path: [kind.identityAt], why }])
}

/** Objects of a sort that several have one identity in the dashboard: names that are no ids. */
export function ambiguousNames(kind: MoveKind, all: readonly RemoteObject[]): FileFlaw[] {
  const seen = new Set<string>()
  const twice = new Set(all.map(({ identity }) => identity).filter((id) => seen.size === seen.add(id).size))
  return [...twice].map((id) => {
    const why = `the dashboard has several named ${id}: give each a unique name`
    return { name: 'name_ambiguous', file: '', line: 0, field: `${kind.one} ${kind.identityAt}`, why }
  })
}
