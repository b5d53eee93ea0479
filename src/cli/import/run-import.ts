import { resolve } from 'node:path'
import { fault } from '../../errors/fault.ts'
import { CONTAINING, type Containing, isContaining } from '../../model/apis/definition/api.ts'
import { listenPathIn } from '../../model/apis/definition/stored-api.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { LEGACY_KEY } from '../../model/keys/legacy-hash.ts'
import type { PathRules } from '../../model/sessions/explicit-paths.ts'
import type { CommandContext } from '../commands/command.ts'
import { unservedLines } from '../moves/await-nodes.ts'
import { targetAllowsDuplicates } from '../moves/blockers.ts'
import { openTarget, readTargetState } from '../moves/dashboard-target.ts'
import { textAt } from '../moves/kind.ts'
import { APIS } from '../moves/kind-apis.ts'
import { CLIENTS } from '../moves/kind-clients.ts'
import { KEYS } from '../moves/kind-keys.ts'
import { POLICIES } from '../moves/kind-policies.ts'
import { textOption } from '../moves/options.ts'
import { ordered } from '../moves/order.ts'
import type { MoveStep } from '../moves/plan.ts'
import { runWithProgress } from '../moves/run.ts'
import type { ImportCandidate } from './candidate.ts'
import { type ImportState, initialImportState, selectImportable } from './compare.ts'
import { readClients } from './read-clients.ts'
import { type Policies, readDefinitions, readPolicyFiles } from './read-definitions.ts'
import { type KeySpace, type ReadEntries, readKeySpace } from './read-entries.ts'
import { type KeysRead, type KnownIds, knownRights, readKeys } from './read-keys.ts'
import { type ImportReport, nameOf, reportJson, reportLines } from './report.ts'

/** The exit status where the report or the dashboard refuses something, or a node does not serve what was written. */
const REFUSED = 1
/** The exit status of a report that lists changes and refuses nothing. */
const TO_DO = 2
const NO_KEYS: KeySpace = { sessions: new Map(), used: new Map(), clients: [], refreshTokens: 0 }

/**
 * Takes over what another product has, through the dashboard's API alone; what is there already stays as it is. Without `--yes` only
 * the report, and status 2 when there is something to take. Status 1 has precedence, so that scripts see that something was refused.
 */
export async function runImport(context: CommandContext, read: ReadEntries): Promise<number> {
  const { options, env, print } = context
  const url = textOption(options, 'from-redis', env.SVC_IMPORT_REDIS)
  const folders = [textOption(options, 'definitions'), textOption(options, 'policies')]
  if (url === '' && folders.every((folder) => folder === ''))
    throw fault('option_invalid', 'name what to import: --from-redis URL, --definitions DIR, --policies PATH')
  const matching = matchingOf(options)
  const place = await openTarget(options, env, { withSecrets: false })
  const space = url === '' ? NO_KEYS : await readKeySpace(url, read)
  const { current } = await readTargetState(place, [APIS, POLICIES, CLIENTS, KEYS])
  const settled = initialImportState(current)
  const report = await reported(context, { place, space, settled, matching })
  const { flaws, order } = ordered({
    ...{ dir: '', steps: settled.steps, current, mayCollide: await targetAllowsDuplicates(place, settled.steps) },
  })
  if (flaws.length > 0) throw fault('move_refused', flaws.map(({ file, why }) => `${file}: ${why}`).join('\n'))
  const quiet = options.json === true
  const isDone = options.yes === true && order.length > 0
  if (!quiet) for (const line of reportLines(report)) print(line)
  else if (!isDone) print(reportJson(report, false))
  const hasRefusals = report.refused.length > 0
  if (order.length === 0) return hasRefusals ? REFUSED : 0
  if (!isDone) {
    if (!quiet) print('Nothing was changed: --yes does it.')
    return hasRefusals ? REFUSED : TO_DO
  }
  const onDone = (step: MoveStep) => void (quiet || print(`took ${nameOf(step)}`))
  const failed: ImportState['refused'] = []
  const onRefused = (step: MoveStep, why: string) => {
    failed.push({ from: nameOf(step), why })
    if (!quiet) print(`! ${nameOf(step)}: ${why}`)
  }
  await runWithProgress({ place, order, name: 'import', json: quiet, onDone, onRefused })
  const unserved = await unservedLines(place, order.flat())
  if (quiet) print(reportJson({ ...report, refused: [...report.refused, ...failed] }, true, unserved))
  else for (const line of unserved) print(`! ${line}`)
  const missing = report.refused.length + failed.length
  if (!quiet) print(missing === 0 ? 'Done.' : `Done, but for ${missing} refused.`)
  return missing === 0 && unserved.length === 0 ? 0 : REFUSED
}

/** How rules match in what is imported. @throws Fault `option_invalid` */
function matchingOf(options: CommandContext['options']): Containing {
  const named = textOption(options, 'path-matching') || 'contains'
  if (isContaining(named)) return named
  throw fault('option_invalid', `--path-matching: must be one of ${CONTAINING.join(', ')}`)
}

interface Given {
  readonly place: Awaited<ReturnType<typeof openTarget>>
  readonly space: KeySpace
  readonly settled: ImportState
  readonly matching: Containing
}

/** Sort by sort, so that what names something refused is looked at with that in mind. */
async function reported(
  { options, cwd }: CommandContext,
  { place, space, settled, matching }: Given,
): Promise<ImportReport> {
  const path = (name: string) => {
    const text = textOption(options, name)
    return text === '' ? undefined : resolve(cwd, text)
  }
  const take = async (found: { candidates: readonly ImportCandidate[]; refused: ImportState['refused'] }) => {
    settled.refused.push(...found.refused)
    await selectImportable(place, settled, found.candidates)
  }
  const [definitions, policyFiles, templates] = [path('definitions'), path('policies'), path('templates')]
  const apis = definitions === undefined ? undefined : readDefinitions(definitions, { matching, templates })
  if (apis !== undefined) await take(apis)
  const paths: PathRules = {
    matching,
    listenPathOf: (id) => listenPathOfBody(settled.current.get(APIS)?.get(id)?.body),
  }
  const policies = policyFiles === undefined ? apis?.policies : readPolicyFiles(policyFiles)
  if (policies !== undefined) await take(withKnownRights(policies, { apis: namesOf(settled, 'apis'), paths }))
  const known: KnownIds = {
    apis: namesOf(settled, 'apis'),
    policies: namesOf(settled, 'policies'),
    renamed: policies?.renamed ?? new Map(),
    paths,
  }
  await take(readClients(space, known, textOption(options, 'redirect-separator')))
  const keys = readKeys(space, known, { raw: options['raw-keys'] === true })
  await takeKeys(place, settled, keys)
  const { steps, changed, refused, kept } = settled
  const { algorithms, orgs, organisations } = keys
  const words = apis?.words ?? new Set<string>()
  return {
    ...{ steps, changed, refused, kept, algorithms, orgs, organisations, words },
    refreshTokens: space.refreshTokens,
  }
}

/** One that was used since has another hash now, but still says where it came from. */
async function takeKeys(place: Given['place'], settled: ImportState, keys: KeysRead): Promise<void> {
  const there = [...(settled.current.get(KEYS)?.values() ?? [])]
  const origins = new Set(there.map(({ body }) => textAt(body, LEGACY_KEY)).filter((origin) => origin !== ''))
  settled.refused.push(...keys.refused)
  await selectImportable(place, settled, keys.candidates, ({ body }) => origins.has(textAt(body, LEGACY_KEY)))
}

function withKnownRights(read: Policies, known: Pick<KnownIds, 'apis' | 'paths'>) {
  const candidates: ImportCandidate[] = []
  const refused = [...read.refused]
  for (const candidate of read.candidates) {
    const changes = [...candidate.changes]
    const { access_rights: sent } = candidate.body
    const rights = knownRights(sent, known, changes)
    if (isObject(sent) && Object.keys(sent).length > 0 && Object.keys(rights).length === 0)
      refused.push({ from: `policy ${candidate.identity}`, why: 'has rights only on APIs that are not there' })
    else
      candidates.push({
        ...candidate,
        body: { ...candidate.body, ...(sent !== undefined && { access_rights: rights }) },
        changes,
      })
  }
  return { candidates, refused }
}

function listenPathOfBody(body: JsonObject | undefined): string | undefined {
  const { api_definition: classic = null, oas = null } = body ?? {}
  if (isObject(oas)) return listenPathIn(oas)
  return isObject(classic) ? listenPathIn(classic) : undefined
}

function namesOf({ current }: ImportState, name: string): ReadonlySet<string> {
  const kind = [...current.keys()].find((each) => each.name === name)
  return new Set(kind === undefined ? [] : current.get(kind)!.keys())
}
