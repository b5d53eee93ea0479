import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../../src/model/json/json.ts'
import type { Answer } from '../base/client.ts'
import { classic } from '../base/definitions.ts'
import { startTestGateway, type TestGateway } from '../base/harness.ts'
import { type Origin, startOrigin } from '../servers/origin.ts'

export interface Installation {
  readonly gateway: TestGateway
  readonly origin: Origin
  readonly folder: string
  /** Writes a module into the folder. */
  write(file: string, text: string): void
  publish(definition: JsonObject): Promise<Answer>
}

/** A gateway that allows a folder of modules. */
export async function install(t: TestContext, env: Record<string, string> = {}): Promise<Installation> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-modules-')))
  t.after(() => rmSync(folder, { recursive: true }))
  const origin = await startOrigin()
  t.after(() => origin.close())
  // Busy machines are slow to start threads, and to get round to them.
  const defaults = { SVC_GW_MODULES_PATH: folder, SVC_GW_MODULES_TIMEOUTMS: '10000' }
  const gateway = await startTestGateway({ env: { ...defaults, ...env } })
  t.after(() => gateway.close())
  return {
    ...{ gateway, origin, folder },
    write: (file, text) => writeFileSync(join(folder, file), text),
    publish: (definition) => gateway.svc('POST', 'openapi' in definition ? '/svc/apis/oas' : '/svc/apis', definition),
  }
}

/** The name of a function, or its entry in the definition. */
type Called = string | JsonObject

export interface Calls {
  readonly pre?: readonly Called[]
  readonly post_key_auth?: readonly Called[]
  readonly post?: readonly Called[]
  readonly response?: readonly Called[]
}

/** A keyless API at `/m/` that calls these functions of `m.ts`. */
export function calling(url: string, calls: Calls, more: JsonObject = {}): JsonObject {
  const lists = Object.entries(calls).map(([phase, names]) => [
    phase,
    names.map((named: string | JsonObject) => ({
      path: 'm.ts',
      ...(typeof named === 'string' ? { name: named } : named),
    })),
  ])
  const custom_middleware = { driver: 'typescript', ...Object.fromEntries(lists) } as JsonObject
  return classic('m', '/m/', url, { custom_middleware, ...more })
}
