import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentId } from '../../../src/model/documents/ids.ts'
import type { Change } from '../../../src/store/ports/ports.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

const DEVELOPERS = 12_000

interface Developer {
  readonly id: string
  readonly org_id: string
  readonly email: string
  readonly date_created: string
}

/** Most hold `most`, fewer than half `some`; the order of dates is another than that of ids and of addresses. */
const developers = Array.from({ length: DEVELOPERS }, (_, n): Developer => {
  const words = `${n % 10 === 0 ? '' : 'most'}${n % 20 < 9 ? 'some' : ''}`
  return {
    id: n.toString(16).padStart(24, '0'),
    org_id: n % 100 === 0 ? 'other' : 'o',
    email: `${(n * 7919) % DEVELOPERS}-${words}@example.test`,
    date_created: new Date(((n * 4799) % (DEVELOPERS / 2)) * 1000).toISOString(),
  }
})

test('a page deep in a search, in the order of dates, is what a naive search finds there', async (t) => {
  const store = await openStore({ path: temporaryFolder(t) })
  t.after(() => store.close())
  for (let from = 0; from < DEVELOPERS; from += 2000) {
    const changes = developers.slice(from, from + 2000).map((body): Change => {
      return { op: 'put', kind: 'developer', id: body.id as DocumentId, body: { ...body } }
    })
    await store.documents.commit(changes, undefined)
  }
  for (const part of ['MOST', 'some', 'nobody'])
    for (const orgId of ['o', undefined])
      for (const descending of [false, true]) {
        const found = developers
          .filter(({ email, org_id }) => email.includes(part.toLowerCase()) && (orgId ?? org_id) === org_id)
          .sort((a, b) => (`${a.date_created}${a.id}` < `${b.date_created}${b.id}` ? -1 : 1))
          .map(({ id }) => id)
        if (descending) found.reverse()
        for (const offset of [0, 2600, Math.floor(found.length / 2), Math.max(0, found.length - 3)]) {
          const { rows, total } = await store.documents.list('developer', {
            ...(orgId !== undefined && { where: { org_id: orgId } }),
            ...{ contains: { index: 'email', part }, order: 'date_created', descending, offset, limit: 7 },
          })
          assert.equal(total, found.length)
          assert.deepEqual(
            rows.map(({ id }) => String(id)),
            found.slice(offset, offset + 7),
            JSON.stringify({ part, orgId, descending, offset }),
          )
        }
      }
})
