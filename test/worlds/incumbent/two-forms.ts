import { isDeepStrictEqual } from 'node:util'
import { toFault } from '../../../src/errors/fault.ts'
import { toOas } from '../../../src/model/apis/convert/convert.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { startTestGateway } from '../base/harness.ts'
import { API, HEALTH_CHECK, KEY, sessionFor } from './generated.ts'
import { ALIAS, scriptOfField } from './recordings.ts'
import { seen } from './replay.ts'
import { send, startUpstreams } from './upstreams.ts'

/** The outcome of a definition in both forms. */
export interface Comparison {
  /** The reason, where the classic form is refused. */
  readonly refused: string | undefined
  /** Each request that is answered or forwarded in another way, in words. */
  readonly differences: readonly string[]
}

/** Two gateways with upstreams of their own: classic definitions go to one, what they are converted to goes to the other. */
export interface TwoForms {
  compare(definition: JsonObject, requests: readonly string[]): Promise<Comparison>
  close(): Promise<void>
}

export async function startTwoForms(): Promise<TwoForms> {
  const env = { SVC_COMPAT_VENDORALIASES: ALIAS, SVC_GW_ALLOWUNDERSCOREFIELDS: 'true' }
  const start = async () => ({
    gateway: await startTestGateway({ env }),
    upstreams: await startUpstreams(scriptOfField),
  })
  const [classic, converted] = [await start(), await start()]
  type Side = typeof classic
  const post = async ({ gateway, upstreams }: Side, path: string, document: JsonObject) => {
    const { status, text } = await gateway.svc('POST', path, upstreams.fill(JSON.stringify(document)))
    return status === 200 ? undefined : text
  }
  const allow = ({ gateway }: Side, api: string) => gateway.svc('POST', `/svc/keys/${KEY}`, sessionFor(api))
  const play = async ({ gateway, upstreams }: Side, request: string) => {
    upstreams.take()
    const answer = await send(gateway.port, request)
    // How often a failed request is tried depends on whether its connection was used before.
    const received = upstreams
      .take()
      // Health checks come when they are due.
      .filter(({ url }) => !url.endsWith(HEALTH_CHECK))
      .filter((each, at, all) => at === 0 || !isDeepStrictEqual(each, all[at - 1]))
    return seen({ ...answer, received })
  }
  let count = 0

  async function compare(definition: JsonObject, requests: readonly string[]): Promise<Comparison> {
    const api = `g${count++}`
    const mine = JSON.parse(JSON.stringify(definition).replaceAll(API, api)) as JsonObject
    const refused = await post(classic, '/svc/apis', mine)
    const stored = refused === undefined ? await classic.gateway.svc('GET', `/svc/apis/${api}`) : undefined
    const text = stored === undefined ? JSON.stringify(mine) : classic.upstreams.unfill(stored.text)
    const document = convertedOf(JSON.parse(converted.upstreams.fill(text)))
    if (refused !== undefined) {
      const taken = document !== undefined && (await post(converted, '/svc/apis/oas', document)) === undefined
      if (taken) await converted.gateway.svc('DELETE', `/svc/apis/${api}`)
      // The conversion adds the operations that lists name, which describes them.
      const alike = !taken || refused.includes('is not described')
      return { refused, differences: alike ? [] : [`only the classic form is refused: ${refused}`] }
    }
    const differences: string[] = []
    const other =
      document === undefined ? 'the conversion is refused' : await post(converted, '/svc/apis/oas', document)
    if (other !== undefined) differences.push(`only the converted form is refused: ${other}`)
    else {
      for (const side of [classic, converted]) await allow(side, api)
      for (const request of requests) {
        const [one, two] = [await play(classic, request), await play(converted, request)]
        if (isDeepStrictEqual(one, two)) continue
        differences.push(`${request}\n${JSON.stringify(one)}\n${JSON.stringify(two)}`)
      }
    }
    for (const { gateway } of [classic, converted]) await gateway.svc('DELETE', `/svc/apis/${api}`)
    return { refused: undefined, differences }
  }
  return {
    compare,
    async close() {
      for (const { gateway, upstreams } of [classic, converted]) {
        await gateway.close()
        await upstreams.close()
      }
    },
  }
}

/** Undefined where the definition does not fit its schema. @throws Error where the conversion loses something */
function convertedOf(definition: JsonObject): JsonObject | undefined {
  try {
    const { document, lost } = toOas(definition)
    if (lost.length > 0) throw new Error(`lost in the conversion: ${lost.join(', ')}`)
    return document
  } catch (error) {
    if (toFault(error).code === 'internal') throw error
    return undefined
  }
}
