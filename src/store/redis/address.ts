import { readFileSync } from 'node:fs'
import { fault } from '../../errors/fault.ts'
import { readPasswords } from '../../model/secrets/password-file.ts'

const PORT = 6_379
const SENTINEL_PORT = 26_379
const FORM = 'redis[s][+sentinel|+cluster]://[user:password@]host[:port][,host[:port]...][/database]'
const PARAMETERS = new Set(['master', 'sentinel_user', 'sentinel_password', 'password_file', 'cacert', 'cert', 'key'])

export interface Host {
  readonly host: string
  readonly port: number
}

/** The account to sign in with. */
export interface Account {
  readonly username: string | undefined
  /** Those to try, the first that is accepted counts; undefined = none is needed. Reads a file of them again each time. */
  readonly passwords: () => readonly (string | undefined)[]
}

/** How to reach the Redis that takes writes. Holds the password. */
export interface RedisAddress {
  /** `server`: the one host. `sentinel`: the hosts are sentinels, which name it. `cluster`: the hosts are nodes of a Redis cluster. */
  readonly kind: 'server' | 'sentinel' | 'cluster'
  readonly hosts: readonly Host[]
  readonly account: Account
  readonly sentinelAccount: Account
  /** The name by which sentinels know the master; empty for other kinds. */
  readonly master: string
  readonly database: number
  /** undefined = no TLS. Reads the files, so that renewed certificates are used by the next connection. */
  readonly tls: (() => { readonly ca?: string; readonly cert?: string; readonly key?: string }) | undefined
}

/**
 * Reads an address such as `rediss://user:password@host:6379/0?cacert=FILE`,
 * `redis+sentinel://user:password@sentinel1:26379,sentinel2:26379/0?master=mymaster`, or `redis+cluster://user:password@node1:6379,node2:6379`.
 * `rediss` is with TLS, to sentinels too; `cacert`, `cert` and `key` name files (PEM), `password_file` one
 * with the passwords of the user.
 * @throws Fault `setting_invalid`; nothing of the address is in its text but names of parameters and files
 */
export function readRedisAddress(url: string): RedisAddress {
  // Without its cause, which quotes the URL and so the password.
  const refuse = (why = `is not of the form ${FORM}`) => fault('setting_invalid', `the URL of Redis ${why}`)
  const parts = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/([^/?#]*@)?([^/?#]*)(.*)$/.exec(url)
  const [, secure, kind = 'server', who = '', authority = '', rest] = parts ?? []
  const urls = authority.split(',').map((host) => `redis://${who}${host}${rest}`)
  if (parts === null || !urls.every((one) => URL.canParse(one))) throw refuse()
  const [first, ...others] = urls.map((one) => new URL(one)) as [URL, ...URL[]]
  const given = first.searchParams
  for (const name of given.keys()) if (!PARAMETERS.has(name)) throw refuse(`knows no parameter ${name.slice(0, 50)}`)
  const hosts = [first, ...others].map(({ hostname, port }) => ({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port) || (kind === 'sentinel' ? SENTINEL_PORT : PORT),
  }))
  const database = first.pathname.slice(1)
  const master = given.get('master') ?? ''
  if (hosts.some(({ host }) => host === '') || !/^\d{0,5}$/.test(database)) throw refuse()
  if (kind === 'server' && others.length > 0)
    throw refuse('names several hosts: say by redis+sentinel:// or redis+cluster:// what they are')
  if ((kind === 'sentinel') !== (master !== '')) throw refuse('needs ?master=NAME with sentinels, and only with these')
  if (kind === 'cluster' && Number(database) !== 0) throw refuse('names a database, and a Redis cluster has only 0')
  for (const name of ['cacert', 'cert', 'key'])
    if (given.has(name) && secure === '') throw refuse(`names a ${name}, which is for rediss only`)
  const text = (encoded: string) => {
    try {
      return decodeURIComponent(encoded) || undefined
    } catch {
      throw refuse('holds what is not percent-encoded')
    }
  }
  const tls = () => {
    const files = ['cacert', 'cert', 'key'].map((name) => given.get(name))
    const [ca, cert, key] = files.map((path) => (path === null || path === undefined ? '' : readPem(path)))
    return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  }
  if (secure !== '') tls()
  const file = given.get('password_file')
  const password = text(first.password)
  return {
    kind: kind as RedisAddress['kind'],
    ...{ hosts, master, database: Number(database) },
    account: {
      username: text(first.username),
      passwords: file === null ? () => [password] : () => readPasswords(file, 'storage.redis_url'),
    },
    sentinelAccount: {
      username: given.get('sentinel_user') ?? undefined,
      passwords: () => [given.get('sentinel_password') ?? undefined],
    },
    tls: secure === '' ? undefined : tls,
  }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : path
    throw fault('setting_invalid', `a file that the URL of Redis names cannot be read: ${why}`)
  }
}
