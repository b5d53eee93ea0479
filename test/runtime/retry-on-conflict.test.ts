import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fault } from '../../src/errors/fault.ts'
import { newDocumentId } from '../../src/model/documents/ids.ts'
import { MOST_ATTEMPTS, retryOnConflict, TICKET_CONFLICT } from '../../src/runtime/retry-on-conflict.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'

const OUTCOMES = ['conflict', 'conflict', 'conflict', 'used', 'refused', 'broken', 'done'] as const

function outcome(of: (typeof OUTCOMES)[number], attempt: number): number {
  if (of === 'conflict') throw fault('revision_conflict', `attempt ${attempt}`)
  if (of === 'used') throw fault('ticket_unusable', `attempt ${attempt}`)
  if (of === 'refused') throw fault('not_found', `attempt ${attempt}`)
  if (of === 'broken') throw new Error(`attempt ${attempt}`)
  return attempt
}

test('ends with the first attempt that meets no conflict, or with the conflict of the last', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...OUTCOMES), { minLength: MOST_ATTEMPTS, maxLength: MOST_ATTEMPTS + 3 }),
      fc.boolean(),
      async (outcomes, isTicket) => {
        const attempts: number[] = []
        const work = async (attempt: number) => {
          attempts.push(attempt)
          return outcome(outcomes[attempts.length - 1]!, attempt)
        }
        const goesOn = isTicket ? 'used' : 'conflict'
        const first = outcomes.findIndex((each) => each !== goesOn)
        const last = Math.min(first === -1 ? outcomes.length : first + 1, MOST_ATTEMPTS)
        const running = isTicket ? retryOnConflict(work, TICKET_CONFLICT) : retryOnConflict(work)
        if (outcomes[last - 1] === 'done') assert.equal(await running, last)
        else await assert.rejects(running, { message: `attempt ${last}` })
        assert.deepEqual(
          attempts,
          Array.from({ length: last }, (_, index) => index + 1),
        )
      },
    ),
  )
})

test('as many writers of one document as there are attempts all get through', async () => {
  const { documents } = openMemoryStore()
  const id = newDocumentId(0)
  const add = () =>
    retryOnConflict(async () => {
      const stored = await documents.get('label', id)
      const count = Number(stored?.body.count ?? 0) + 1
      await documents.commit(
        [{ op: 'put', kind: 'label', id, body: { count }, ifRevision: stored?.revision ?? 0 }],
        undefined,
      )
    })
  await Promise.all(Array.from({ length: MOST_ATTEMPTS }, add))
  assert.equal((await documents.get('label', id))?.body.count, MOST_ATTEMPTS)
})
