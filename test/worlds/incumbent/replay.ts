import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { ALIAS, type Outcome, type Recording, type SetUp } from './recordings.ts'
import { type RawAnswer, send, startUpstreams } from './upstreams.ts'

/** A recorded request and what came of it here. */
export interface Replayed {
  readonly recording: Recording
  readonly definition: JsonObject
  readonly here: Outcome & { readonly fields: readonly string[] }
  /** Why the definition was refused here, if it was: the text of the answer. */
  readonly refused: string | undefined
}

/**
 * Makes what the set-up holds at a gateway of its own and sends the recorded requests that `taken` chooses (default:
 * all), in their order. `converted`: each classic definition is replaced by its conversion to OpenAPI first.
 */
export async function replay(
  setUp: SetUp,
  taken: (recording: Recording) => boolean = () => true,
  converted = false,
): Promise<Replayed[]> {
  const upstreams = await startUpstreams(setUp.scriptOf)
  const gateway = await startTestGateway({
    env: { SVC_COMPAT_VENDORALIASES: ALIAS, SVC_GW_ALLOWUNDERSCOREFIELDS: 'true' },
  })
  const fill = <T>(value: T): T => JSON.parse(upstreams.fill(JSON.stringify(value)))
  const done: Replayed[] = []
  try {
    const refused = new Map<string, string>()
    for (const { id, document } of setUp.definitions) {
      const path = 'openapi' in document ? 'apis/oas' : 'apis'
      const { status, text } = await gateway.svc('POST', `/${ALIAS}/${path}`, fill(document))
      if (status !== 200) refused.set(id, text)
      else if (converted && path === 'apis') await convert(gateway, id)
    }
    const make = async (method: string, path: string, body: JsonObject): Promise<JsonObject> => {
      const { status, text } = await gateway.svc(method, path, fill(body))
      if (status !== 200) throw new Error(`${method} ${path} was answered ${status} ${text}`)
      return JSON.parse(text)
    }
    for (const policy of setUp.policies) await make('POST', `/${ALIAS}/policies`, policy)
    const keys = new Map<string, string>()
    for (const { n, session } of setUp.keys) {
      keys.set(`{{key:${n}}}`, String((await make('POST', `/${ALIAS}/keys`, session)).key))
    }
    for (const { method, path, body } of setUp.calls) await make(method, path, body)
    const withKeys = (text: string) => text.replace(/\{\{key:\d+\}\}/g, (name) => keys.get(name) ?? name)
    const withoutKeys = (text: string) =>
      [...keys].reduce((rest, [name, key]) => rest.replaceAll(key, name), upstreams.unfill(text))
    for (const recording of setUp.recordings.filter(taken)) {
      let answer: RawAnswer = { status: 0, fields: [], body: '' }
      for (const request of recording.requests) {
        upstreams.take()
        answer = await send(gateway.port, withKeys(upstreams.fill(request)))
      }
      const received = upstreams.take().map((request) => ({
        ...request,
        url: withoutKeys(request.url),
        fields: request.fields.map(withoutKeys),
      }))
      done.push({
        recording,
        definition: setUp.definitions.find(({ id }) => id === recording.api)?.document ?? {},
        here: { ...answer, received },
        refused: refused.get(recording.api),
      })
    }
  } finally {
    await gateway.close()
    await upstreams.close()
  }
  return done
}

/** Replaces a classic definition by its conversion. @throws Error where the conversion loses something or is refused */
async function convert(gateway: TestGateway, id: string): Promise<void> {
  const stored = await gateway.svc('GET', `/svc/apis/${id}`)
  const { document, lost } = toOas(JSON.parse(stored.text))
  if (lost.length > 0) throw new Error(`${id} cannot be converted: ${lost.join(', ')}`)
  await gateway.svc('DELETE', `/svc/apis/${id}`)
  const { status, text } = await gateway.svc('POST', '/svc/apis/oas', document)
  if (status !== 200) throw new Error(`${id} is refused once converted: ${status} ${text}`)
}

/** Fields that belong to a hop, that name it, or that steer the recording upstream. */
const NOISE = new Set(
  [
    'accept-encoding,connection,content-length,date,host,keep-alive,te,traceparent,tracestate,transfer-encoding',
    'user-agent,via,x-forwarded-for,x-forwarded-host,x-forwarded-proto,x-forwarded-port,x-real-ip,x-request-id,x-up',
  ]
    .join(',')
    .split(','),
)

const withoutNoise = (fields: readonly string[]) =>
  fields.filter((field) => !NOISE.has(field.slice(0, field.indexOf(':')))).sort()

/** True = the same for the upstream and the caller; where neither reaches an upstream, both refuse or neither does. */
export function agrees({ recording, here }: Replayed): boolean {
  return recording.there.some((there) => {
    if (there.received.length === 0 && here.received.length === 0) {
      if (there.status >= 400 || here.status >= 400) return there.status >= 400 && here.status >= 400
      return there.status === here.status && (!recording.compareBody || alike(there.body, here.body))
    }
    // Requests to upstreams are recorded only where the answer came through as it was.
    if (
      there.received.length === 0 &&
      there.status === here.status &&
      there.body !== '' &&
      alike(there.body, here.body)
    )
      return true
    // An upstream that is too slow may have been noted too late.
    if (there.status === 504 && here.status === 504) return true
    if (there.status !== here.status || there.received.length !== here.received.length) return false
    return there.received.every((request, at) => {
      const ours = here.received[at]!
      return (
        request.upstream === ours.upstream &&
        request.method === ours.method &&
        request.url === ours.url &&
        withoutNoise(request.fields).join('\n') === withoutNoise(ours.fields).join('\n') &&
        alike(request.body, ours.body)
      )
    })
  })
}

/** The answer to the caller and the requests to the upstreams, without what differs from run to run. */
export function seen({ status, body, fields, received }: Replayed['here']): object {
  const stable = (text: string) =>
    text.replace(/[A-Za-z0-9_-]{43}/g, '{{key}}').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:{{port}}')
  return {
    status,
    body: stable(body),
    fields: withoutNoise(fields).map(stable),
    received: received.map((request) => ({
      ...request,
      url: stable(request.url),
      fields: withoutNoise(request.fields).map(stable),
    })),
  }
}

/** True = something answers the caller here that was refused, or not answered, there. */
export function servesMore({ recording, here }: Replayed): boolean {
  return here.status > 0 && here.status < 400 && recording.there.every(({ status }) => status >= 400 || status === 0)
}

function alike(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other)
}

/** JSON with members in order of their names; what is no JSON as it is. */
function canonical(text: string): string {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : value !== null && typeof value === 'object'
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([one], [other]) => (one < other ? -1 : 1))
              .map(([name, each]) => [name, sorted(each)]),
          )
        : value
  try {
    return JSON.stringify(sorted(JSON.parse(text)))
  } catch {
    return text
  }
}
