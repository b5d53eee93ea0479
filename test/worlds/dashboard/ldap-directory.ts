import type { TestContext } from 'node:test'
import ldap from 'ldapjs'

/** Base DN of the directory. */
export const BASE = 'dc=example,dc=test'
/** Who may look people up. */
export const ADMIN = { dn: `cn=reader,${BASE}`, password: 'password of the reader' }

export interface Person {
  readonly uid: string
  readonly password: string
  readonly mail?: string
  readonly memberOf?: readonly string[]
  /** The directory's permanent id of the person. */
  readonly uuid?: string
}

/** A real directory. Like many, it lets a bind without a password succeed, as nobody. */
export async function directory(t: TestContext, people: readonly Person[], tls?: { certificate: string; key: string }) {
  const server = ldap.createServer(tls)
  const dnOf = (uid: string) => ldap.parseDN(`uid=${uid},${BASE}`).toString()
  const filters: string[] = []
  const binds: string[] = []
  server.bind('', (request, response, next) => {
    const dn = request.name.toString()
    binds.push(dn)
    const right = [
      { dn: ldap.parseDN(ADMIN.dn).toString(), password: ADMIN.password },
      ...people.map(({ uid, password }) => ({ dn: dnOf(uid), password })),
    ]
    const known =
      request.credentials === '' || right.some((one) => one.dn === dn && one.password === request.credentials)
    if (!known) return next(new ldap.InvalidCredentialsError())
    response.end()
    return next()
  })
  server.search(BASE, (request, response, next) => {
    filters.push(request.filter.toString())
    for (const { uid, mail, memberOf, uuid } of people) {
      const attributes = {
        objectclass: ['person'],
        uid,
        ...(mail && { mail }),
        givenname: `First ${uid}`,
        ...(memberOf && { memberOf }),
        ...(uuid && { entryUUID: uuid }),
      }
      // ldapjs compares the escaped form of a value: names with characters of filters are compared here.
      const [, asked = ''] = /uid=([^)*]+)\)/.exec(request.filter.toString()) ?? []
      const exact = asked.replace(/\\([0-9a-f]{2})/g, (_all, code) => String.fromCharCode(Number.parseInt(code, 16)))
      if (exact === uid || request.filter.matches(attributes)) response.send({ dn: dnOf(uid), attributes })
    }
    response.end()
    return next()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port: server.address().port, filters, binds }
}
