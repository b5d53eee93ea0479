import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { TRANSFER_TABLE_NAMES } from '../../../src/store/ports/transfer.ts'
import { copyStore } from '../../../src/store/prepare/move-store.ts'
import { openWritable } from '../../../src/store/sqlite/connection/database.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { hitJournal } from '../../../src/store/sqlite/hits/hit-journal.ts'
import { openSqliteTarget } from '../../../src/store/sqlite/transfer/load.ts'
import { openSqliteSource } from '../../../src/store/sqlite/transfer/snapshot.ts'
import { temporaryFolder } from '../../contract/adapters.ts'
import { countOf, DAY, samplesOn, setOf } from '../../worlds/store/hit-samples.ts'

/** Each step of a fold is as short as it can be. */
const SMALL = { samples: 1_000_000, rows: 30_000, pieceMs: 0, lookEveryRows: 1, pieceEntries: 1 }

test('a snapshot counts each request once, however far the journal of hits is rolled up', async (t) => {
  const path = temporaryFolder(t)
  const file = join(path, 'gatehouse.db')
  const store = await openStore({ path })
  const numbers = await store.hits.number(['a', 'b', 'c'].map(setOf))
  await store.hits.append([samplesOn(DAY, numbers), samplesOn(DAY + 1, [...numbers, ...numbers])])
  await store.hits.append([samplesOn(DAY, numbers)])
  const expected = 12
  await store.stopWriter()
  await store.close()
  const db = openWritable({ file, limitBytes: 0 })
  t.after(() => db.close())
  const fold = hitJournal(db, SMALL).fold()
  for (let isDone: boolean | undefined = false; !isDone; isDone = fold.next().done) {
    const [source, folder] = [openSqliteSource(file), temporaryFolder(t)]
    const target = openSqliteTarget(folder)
    await copyStore(source, target, { tables: TRANSFER_TABLE_NAMES })
    await Promise.all([source.close(), target.close()])
    const copy = await openStore({ path: folder })
    assert.equal(await countOf(copy), expected)
    await copy.close()
  }
})
