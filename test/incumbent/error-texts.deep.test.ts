import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classicSetUps } from '../worlds/incumbent/recordings.ts'
import { replay } from '../worlds/incumbent/replay.ts'

/** Texts of errors that have other words here, as the incumbent has them: the row "Texts of errors" of the differences. */
const OTHER_WORDS = [
  /^key not authori[sz]ed/i,
  /^no suitable claims/,
  /^Api Version has expired/,
  /^Authorization field missing, malformed or invalid$/,
  /Invalid type\. Expected|is required$|^JSON parsing error|^request validation error/,
]

function errorIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: string }).error
  } catch {
    return undefined
  }
}

test('refusals say what they said there, but for tokens, signatures, versions and checks', async () => {
  const setUp = classicSetUps().find(({ recordings }) => recordings[0]?.topic === 'a set by a stranger')!
  const refused = setUp.recordings.filter(({ there }) => there[0]!.status >= 400 && there[0]!.received.length === 0)
  const replayed = await replay(setUp)
  const found = replayed.flatMap(({ recording, here, refused: reason }) => {
    const [there, own] = [errorIn(recording.there[0]!.body), errorIn(here.body)]
    if (!refused.includes(recording) || reason !== undefined || here.status < 400 || there === undefined) return []
    return [{ name: recording.name, there, own }]
  })
  assert.ok(found.length > 40, `${found.length} refusals`)
  const other = found.filter(({ there, own }) => there !== own)
  assert.deepEqual(
    other.filter(({ there }) => !OTHER_WORDS.some((words) => words.test(there))),
    [],
  )
  for (const words of OTHER_WORDS)
    assert.ok(
      other.some(({ there }) => words.test(there)),
      `${words} meets nothing`,
    )
})
