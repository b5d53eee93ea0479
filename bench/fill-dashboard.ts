import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openStore } from '../src/store/sqlite/connection/open.ts'
import { type DashboardSize, OWNERS } from './dashboard-calls.ts'
import { callInstallation, type Desk, newUser, openDesk } from './desk.ts'
import { commitMany, noteMany, sessionOf } from './fill-store.ts'
import { Admin, definition, type Product, policy } from './product.ts'
import { progress, show } from './report.ts'

const APIS_PER_CALL = 200
const GATEWAY_KEYS = 100
const RIGHTS = ['apis', 'keys', 'policies', 'oauth', 'users', 'user_groups', 'audit_logs', 'log', 'analytics', 'system']
const ACTIONS = ['api.update', 'key.create', 'key.update', 'policy.update', 'user.update']

export interface FilledDashboard {
  readonly admin: Desk
  /** Owns the APIs whose number OWNERS divides, with what is based on them. */
  readonly owner: Desk
  /** Keys that the gateway may be called with: key i at `api-<i>`. */
  readonly gatewayKeys: readonly string[]
}

/** Fills a new installation over its calls, but for most keys and audit rows; these `fillStore` puts into the store once it is stopped. */
export async function fillDashboard(
  product: Product,
  size: DashboardSize,
  upstreamPort: number,
): Promise<FilledDashboard> {
  const from = performance.now()
  const url = product.dashboardUrl
  const admin = await openDesk(url)
  const rights = Object.fromEntries(RIGHTS.map((name) => [name, 'write']))
  const users: Desk[] = new Array(size.users)
  await Admin.times(size.users, async (i) => {
    users[i] = await newUser(url, admin.orgId, `user-${i}@bench.example`, rights)
  })
  for (let first = 0; first < size.apis; first += APIS_PER_CALL) {
    const length = Math.min(APIS_PER_CALL, size.apis - first)
    const apis = Array.from({ length }, (_, at) => apiRow(first + at, users, upstreamPort))
    await callInstallation(url, 'POST', '/admin/apis/import', { apis })
  }
  await Admin.times(size.policies, async (i) => {
    const ids: string[] = []
    for (let api = i; api < size.apis; api += size.policies) ids.push(`api-${api}`)
    await product.admin.call('POST', '/policies', policy(`policy-${i}`, ids))
  })
  const gatewayKeys: string[] = []
  for (let i = 0; i < Math.min(GATEWAY_KEYS, size.policies); i++) {
    const { key } = await product.admin.call('POST', '/keys/create', { apply_policies: [`policy-${i}`] })
    gatewayKeys.push(String(key))
  }
  progress(`users, APIs and policies after ${show((performance.now() - from) / 1000, 1)} s`)
  return { admin, owner: users[0]!, gatewayKeys }
}

function apiRow(i: number, users: readonly Desk[], upstreamPort: number): Record<string, unknown> {
  return {
    oas: definition(`api-${i}`, upstreamPort),
    user_owners: [users[i % Math.min(OWNERS, users.length)]!.userId],
    categories: [`area-${i % 20}`],
    labels: [
      { key: 'tier', value: String(i % 5) },
      { key: 'team', value: String(i % 50) },
    ],
  }
}

/** Puts keys, made after one that the product made, and audit rows into the store of a product that is stopped. */
export async function fillStore(folder: string, size: DashboardSize, { admin, gatewayKeys }: FilledDashboard) {
  const from = performance.now()
  const store = await openStore({ path: join(folder, 'data') })
  try {
    const { hash: _own, ...row } = await sessionOf(store, hashOf(gatewayKeys[0]!))
    await commitMany(store, size.keys - gatewayKeys.length, (i) => {
      const policies = [`policy-${i % size.policies}`]
      const body = { ...row.body, apply_policies: policies, alias: `key-${String(i).padStart(7, '0')}` }
      return [{ op: 'putSession', hash: hashOf(`stored-key-${i}`), row: { ...row, body, policyIds: policies } }]
    })
    const { total } = await store.audit.list({ limit: 1 })
    const begin = Date.now() - 86_400_000
    await noteMany(store, Math.max(0, size.auditRows - total), (i) => ({
      ...{ actor: `user-${i % size.users}@bench.example`, action: ACTIONS[i % ACTIONS.length]!, orgId: admin.orgId },
      ...{ at: begin + i * 500, detail: { number: i } },
      request: {
        ...{ id: `request-${i}`, method: 'PUT', url: `/api/apis/api-${i % size.apis}`, ip: `192.0.2.${i % 200}` },
        ...{ user: `user-${i % size.users}@bench.example`, status: i % 10 === 0 ? 403 : 200 },
      },
    }))
  } finally {
    await store.close()
  }
  progress(`keys and audit rows after ${show((performance.now() - from) / 1000, 1)} s more`)
}

const hashOf = (key: string) => createHash('sha256').update(key).digest()
