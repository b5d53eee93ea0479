import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { bodyOf } from './api-samples.ts'
import type { TestDashboard, TestUser } from './harness.ts'

// The calls of the incumbent's tool for whole installations, in its order and with its bodies: recorded of `dump`, `sync` and `publish`.
export const ALIAS = 'acme'
export const EXTENSION = `x-${ALIAS}-api-gateway`
export const ALL = '?p=-2'
const KEPT = '?accept_additional_properties=true'

export interface Files {
  readonly apis: readonly JsonObject[]
  readonly policies: readonly JsonObject[]
  readonly assets: readonly JsonObject[]
}

export interface Tool {
  dump(): Promise<Files>
  sync(files: Files): Promise<void>
  /** Deletes everything. */
  wipe(): Promise<void>
}

/** The tool as a user of a dashboard. */
export function toolOf(world: TestDashboard, as: TestUser): Tool {
  const call = async (method: string, path: string, body?: unknown, status = 200) => {
    const answer = await world.call(method, path, { as, ...(body !== undefined && { body }) })
    assert.equal(answer.status, status, `${method} ${path} ${answer.text.slice(0, 300)}`)
    return answer
  }
  const done = async (method: string, path: string, body?: unknown) => {
    const told = bodyOf(await call(method, path, body))
    assert.equal(told.Status, 'OK', `${method} ${path}`)
    return told
  }
  const assetsThere = async () => (await call('GET', '/api/assets/')).json as JsonObject[]
  const lists = async () => ({
    policies: bodyOf(await call('GET', `/api/portal/policies/${ALL}`)).Data as JsonObject[],
    apis: bodyOf(await call('GET', `/api/apis/${ALL}`)).apis as JsonObject[],
    assets: await assetsThere(),
  })
  const definitionOf = (api: JsonObject) => api.api_definition as JsonObject
  const put = async (storageId: string, api: JsonObject) => {
    const definition: JsonObject = { ...definitionOf(api), id: storageId, org_id: as.orgId }
    if (api.oas === undefined) return done('PUT', `/api/apis/${storageId}`, { ...api, api_definition: definition })
    await done('PUT', `/api/apis/oas/${storageId}${KEPT}`, api.oas)
    // Its program in Go holds no list where a file names no categories.
    const categories = (api.categories as string[] | undefined)?.length ? api.categories : null
    return done('PUT', `/api/apis/oas/${String(definition.api_id)}/categories/`, { categories })
  }
  return {
    async dump() {
      assert.ok((bodyOf(await call('GET', `/api/users/${ALL}`)).users as JsonObject[])[0]!.org_id)
      const { policies, apis, assets } = await lists()
      const read = await Promise.all(
        policies.map(async ({ _id }) => bodyOf(await call('GET', `/api/portal/policies/${String(_id)}`))),
      )
      return { policies: read, apis, assets }
    },
    async sync(files) {
      const there = await lists()
      const policyIn = (list: readonly JsonObject[], { id }: JsonObject) => list.find((each) => each.id === id)
      for (const policy of there.policies)
        if (policyIn(files.policies, policy) === undefined)
          await done('DELETE', `/api/portal/policies/${String(policy._id)}`)
      for (const policy of files.policies) {
        const known = policyIn(there.policies, policy)
        if (known === undefined)
          assert.match(String((await done('POST', '/api/portal/policies/', policy)).Message), /^[0-9a-f]{24}$/)
        else
          await done('PUT', `/api/portal/policies/${String(known._id)}`, {
            ...policy,
            _id: known._id,
            org_id: as.orgId,
          })
      }
      const apiIn = (list: readonly JsonObject[], api: JsonObject) =>
        list.find((each) => definitionOf(each).api_id === definitionOf(api).api_id)
      for (const api of there.apis)
        if (apiIn(files.apis, api) === undefined) await done('DELETE', `/api/apis/${String(definitionOf(api).id)}`)
      const made: [string, JsonObject][] = []
      for (const api of files.apis) {
        const known = apiIn(there.apis, api)
        if (known !== undefined) await put(String(definitionOf(known).id), api)
        else {
          const told = await done('POST', api.oas === undefined ? '/api/apis/' : '/api/apis/oas/', api.oas ?? api)
          made.push([String(told.Meta), api])
        }
      }
      for (const [storageId, api] of made) await put(storageId, api)
      for (const asset of there.assets)
        if (!files.assets.some(({ id }) => id === asset.id)) await call('DELETE', `/api/assets/${String(asset.id)}`)
      for (const asset of files.assets) {
        if (there.assets.some(({ id }) => id === asset.id)) await call('PUT', `/api/assets/${String(asset.id)}`, asset)
        else assert.equal(bodyOf(await call('POST', '/api/assets', asset, 201)).Status, 'success')
      }
    },
    async wipe() {
      const { policies, apis, assets } = await lists()
      for (const { _id } of policies) await done('DELETE', `/api/portal/policies/${String(_id)}`)
      for (const api of apis) await done('DELETE', `/api/apis/${String(definitionOf(api).id)}`)
      for (const { id } of assets) await call('DELETE', `/api/assets/${String(id)}`)
    },
  }
}

/** Without what differs from one installation to another. */
export function comparable(files: Files): string {
  const own = ['_id', 'id', 'dbId', 'org_id', 'orgId', 'created_at', 'updated_at', 'date_created', 'last_updated']
  const byName = (list: readonly JsonObject[]) =>
    list
      .map((each) =>
        JSON.stringify(each, (name, value) => (own.includes(name) && typeof value === 'string' ? undefined : value)),
      )
      .sort()
  return JSON.stringify([byName(files.apis), byName(files.policies), byName(files.assets)])
}
