import { fault, prebuilt, toFault } from '../../../errors/fault.ts'
import type { Api, ModulePhase } from '../../../model/apis/definition/api.ts'
import { isGatewayField } from '../../../model/network/wire-fields.ts'
import type { SecretNames } from '../../../model/secrets/redact-traffic.ts'
import { readPath } from '../../../wire/http1/path.ts'
import type { FieldEdit, ModuleOutcome as Made } from '../../modules/messages.ts'
import type { ModuleSet } from '../../modules/module-set.ts'
import { credentialNames, openFields, ownBytes, requestView, splitQuery } from '../../modules/views.ts'
import type { Exchange, Reply, Step, StepOutcome } from '../../server/exchange.ts'
import { fieldLines, pairsOf } from '../../server/field-lines.ts'
import { putBody } from './put-body.ts'
import { forwardPathOf } from './redirect-internally.ts'

const REJECTED = prebuilt('module_rejected')
const CLIMBS = prebuilt('module_failed', 'a module set a path that climbs')

type RequestPhase = Exclude<ModulePhase, 'response'>

/** Has the modules of a phase look at the request, which they may change, answer or refuse. `maxBodyBytes`: of all requests, 0 = no bound. */
export function runModules(
  set: ModuleSet | undefined,
  phase: RequestPhase,
  api: Api,
  maxBodyBytes: number,
): Step | undefined {
  if (set === undefined || !set.has(phase)) return undefined
  const names = credentialNames(api)
  const asked = set.bodyLimitBytes(phase)
  const limitBytes = maxBodyBytes === 0 ? asked : Math.min(asked, maxBodyBytes)
  // Explained requests are not passed to modules: their effects are unknown.
  const run = (x: Exchange) => (x.dry ? undefined : callModules(set, phase, { names, limitBytes }, x))
  if (phase === 'pre')
    return function runPreModules(x) {
      return run(x)
    }
  if (phase === 'post')
    return function runPostModules(x) {
      return run(x)
    }
  return function runPostAuthenticationModules(x) {
    return run(x)
  }
}

/** The fields that modules do not see, and how much of a body they see; 0 = none. */
interface Shown {
  readonly names: SecretNames
  readonly limitBytes: number
}

async function callModules(
  set: ModuleSet,
  phase: RequestPhase,
  { names, limitBytes }: Shown,
  x: Exchange,
): Promise<StepOutcome> {
  const { open, hidden } = splitQuery(x.forwardQuery, names)
  const path = (phase === 'post' ? x.forwardPath : x.rest) || '/'
  const fields = openFields([...x.request.entries(), ...pairsOf(x.requestExtra)], names)
  try {
    const body = limitBytes === 0 ? undefined : await bodyOf(x, limitBytes)
    const request = requestView(x, { path, query: open, fields, ...(body && { body }) })
    const made = await set.call(phase, { request })
    return x.aborted ? undefined : take(x, phase, made, hidden)
  } catch (error) {
    return toFault(error)
  }
}

/** @throws Fault `body_too_large`, and every fault that ends a body early */
async function bodyOf(x: Exchange, limitBytes: number): Promise<Uint8Array> {
  if (x.body === undefined && x.bodyLength === 0) return new Uint8Array(0)
  const bytes = await x.readBody(limitBytes)
  // It may have been read for another step, which allows more.
  if (bytes.length > limitBytes) throw fault('body_too_large')
  return ownBytes(bytes)
}

function take(x: Exchange, phase: RequestPhase, made: Made, hiddenQuery: string): StepOutcome {
  x.moduleContext = made.context
  if (made.refusal !== undefined || made.reply !== undefined) return replyOf(x, made)
  for (const edit of made.edits) editField(x, edit)
  if (made.body !== undefined) putBody(x, Buffer.from(made.body.buffer, made.body.byteOffset, made.body.length))
  if (made.query !== undefined) setQuery(x, [made.query, hiddenQuery].filter((part) => part !== '').join('&'), phase)
  return made.path === undefined || setPath(x, made.path, phase) ? undefined : CLIMBS
}

/** The end of the request: a refusal in the gateway's form, or a response of the module. */
export function replyOf(x: Exchange, { refusal, reply }: Made): Reply {
  if (reply !== undefined && refusal === undefined) {
    return { status: reply.status, fields: fieldLines(reply.fields), body: reply.body }
  }
  x.fault = REJECTED
  const { status, message } = refusal!
  return { status, fields: 'Content-Type: application/json\r\n', body: JSON.stringify({ error: message }) }
}

/** Later steps and the upstream see the field as the module left it. */
function editField(x: Exchange, { name, values }: FieldEdit): void {
  x.request.erase(name)
  if (x.requestExtra !== '')
    x.requestExtra = fieldLines(pairsOf(x.requestExtra).filter(([each]) => each.toLowerCase() !== name))
  if (!isGatewayField(name)) for (const value of values) x.request.append(name, value)
  x.requestEdits += `${JSON.stringify([name])}\n${JSON.stringify(values).slice(1)}\n`
}

function setQuery(x: Exchange, query: string, phase: RequestPhase): void {
  x.hasQuery = query !== ''
  x.forwardQuery = query
  if (phase === 'pre') x.query = query
}

/** False when the path leads out of the API. */
function setPath(x: Exchange, path: string, phase: RequestPhase): boolean {
  const forms = readPath(path)
  if (forms instanceof Error) return false
  if (phase === 'post') {
    x.forwardPath = forms.sent
    return true
  }
  // Rights, and rules for the whole path, are those of the path that the module chose.
  x.apiPath = x.apiPath.slice(0, x.apiPath.length - x.rest.length) + forms.path
  x.rest = forms.path
  x.forwardPath = forwardPathOf(x.chain!, forms.sent)
  return true
}
