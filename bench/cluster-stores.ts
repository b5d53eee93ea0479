import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../scripts/servers.mjs'
import { newSecret } from '../src/model/secrets/secret.ts'
import { commonRedis } from '../test/worlds/servers/redis.ts'
import { type Product, type ProductOptions, startProduct } from './product.ts'

export interface ClusterOptions {
  readonly folder: string
  readonly seconds: number
  readonly rounds: number
}

/** Starts a node of the cluster, by default a gateway. Nodes of one name share a data folder. */
export type StartNode = (name: string, options?: Pick<ProductOptions, 'role' | 'core'>) => Promise<Product>

/** Starts a throw-away PostgreSQL, whose commits are synced, and a Redis; both on the cores of this process. */
export async function startStores(folder: string): Promise<{ start: StartNode; stop: () => Promise<void> }> {
  const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), commonRedis()])
  const env = {
    SVC_STORAGE_POSTGRESURL: postgres.url(),
    SVC_STORAGE_REDISURL: redis.url,
    SVC_STORAGE_SEALKEY: newSecret(),
  }
  return {
    start(name, options) {
      const own = join(folder, name)
      mkdirSync(own, { recursive: true })
      return startProduct({ role: 'gateway', ...options, folder: own, env: { ...env, SVC_GW_NODENAME: name } })
    },
    // Redis ends with the process.
    stop: () => postgres.stop(),
  }
}
