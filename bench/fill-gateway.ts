import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { callInstallation } from './desk.ts'
import { Admin, definition, policy } from './product.ts'

const APIS_PER_CALL = 100

export interface GatewayFill {
  readonly apis: number
  readonly keys: number
  readonly upstreamPort: number
  /** Where the file of requests goes. */
  readonly folder: string
  /** Of every key, instead of the default. */
  readonly rate?: { readonly rate: number; readonly per: number }
}

/** Keys by number, and the file for `requests.lua`. */
export interface FilledGateway {
  readonly keys: readonly string[]
  readonly file: string
}

/** Makes APIs `api-<i>`, a policy with rate and quota for each, and keys of these in turn. */
export async function fillGateway(admin: Admin, fill: GatewayFill): Promise<FilledGateway> {
  const { apis, upstreamPort, folder } = fill
  await Admin.times(apis, async (i) => {
    await admin.call('POST', '/apis/oas', definition(`api-${i}`, upstreamPort))
    await admin.call('POST', '/policies', { ...policy(`policy-${i}`, [`api-${i}`]), ...fill.rate })
  })
  const keys: string[] = new Array(fill.keys)
  await Admin.times(fill.keys, async (i) => {
    const { key } = await admin.call('POST', '/keys/create', { apply_policies: [`policy-${i % apis}`] })
    keys[i] = String(key)
  })
  return { keys, file: requestsFile(join(folder, 'requests.tsv'), keys, (i) => `/api-${i % apis}`) }
}

/** Writes the file for `requests.lua`: key i is used at `pathOf(i)`. */
export function requestsFile(file: string, keys: readonly string[], pathOf: (i: number) => string): string {
  writeFileSync(file, `${keys.map((key, i) => `${pathOf(i)}\t${key}`).join('\n')}\n`)
  return file
}

/** Makes APIs through `/admin/apis/import` of the dashboard at `url`, a hundred a call; milliseconds. */
export async function importApis(url: string, count: number, upstreamPort: number): Promise<number> {
  const from = performance.now()
  const work = async (part: number) => {
    const length = Math.min(APIS_PER_CALL, count - part * APIS_PER_CALL)
    const apis = Array.from({ length }, (_, at) => ({
      oas: definition(`many-${part * APIS_PER_CALL + at}`, upstreamPort),
    }))
    await callInstallation(url, 'POST', '/admin/apis/import', { apis })
  }
  await Admin.times(Math.ceil(count / APIS_PER_CALL), work, 4)
  return performance.now() - from
}
