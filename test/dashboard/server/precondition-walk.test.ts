import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/dashboard/routes/route.ts'
import { EXPECTED } from '../../worlds/access-matrix/expectations.ts'
import { callOf } from '../../worlds/access-matrix/matrix-rows.ts'
import { startWorld, type World } from '../../worlds/access-matrix/matrix-world.ts'

/** Everything is about things that are there, asked for by an administrator who has the admin secret too. */
async function walkWorld() {
  const world = await startWorld()
  /** `about`: the route whose things the path names. */
  const ask = async (route: Route, headers: Record<string, string>, about = route) => {
    const expected = EXPECTED.get(callOf(route))!
    const as = await world.actor(expected.who === 'installation' ? 'installation' : 'admin', expected)
    const body = route.method === 'GET' ? undefined : (expected.body ?? {})
    return world.call(route.method, pathOf(world, about), { as, body, headers })
  }
  return { ...world, ask }
}

function pathOf({ open }: World, route: Route): string {
  const { names, query = '' } = EXPECTED.get(callOf(route))!
  let number = 0
  return route.path.replace(/\{[^}]*\}/g, () => encodeURIComponent(open[names[number++] ?? 'none'])) + query
}

test('no call succeeds with another version', async (t) => {
  const { dashboard, ask, store, restore, close } = await walkWorld()
  t.after(close)
  const wrong: string[] = []
  for (const route of dashboard.routes.filter(({ method }) => method !== 'GET')) {
    // Makes the caller.
    await ask(route, { 'if-match': '"never seen"' })
    const before = await store.documents.revision()
    const { status, text } = await ask(route, { 'if-match': '"never seen"' })
    if ((await store.documents.revision()) !== before) wrong.push(`${callOf(route)} changed something`)
    // A call that is refused without a precondition may be refused alike.
    if (status !== 412 && (status < 400 || (await ask(route, {})).status !== status))
      wrong.push(`${callOf(route)}: ${status} ${text.slice(0, 100)}`)
    await restore()
  }
  assert.deepEqual(wrong, [])
})

test('a call succeeds with the current version once', async (t) => {
  const world = await walkWorld()
  t.after(world.close)
  const { dashboard, ask, restore } = world
  const wrong: string[] = []
  let tried = 0
  for (const route of dashboard.routes.filter(({ method }) => method !== 'GET')) {
    const read = dashboard.routes.find(({ method, path }) => method === 'GET' && path === route.path)
    if (read === undefined) continue
    const { headers } = await ask(read, {}, route)
    if (headers.etag === undefined) continue
    tried++
    const first = await ask(route, { 'if-match': String(headers.etag) })
    if (first.status === 412) wrong.push(`${callOf(route)}: ${first.text}`)
    if (first.status < 300 && (await ask(read, {}, route)).headers.etag !== headers.etag) {
      const second = await ask(route, { 'if-match': String(headers.etag) })
      if (second.status < 400) wrong.push(`${callOf(route)}, a second time: ${second.status}`)
    }
    await restore()
  }
  assert.deepEqual(wrong, [])
  assert.ok(tried > 50, `${tried}`)
})

test('a read with an ETag is answered 304 to who has it', async (t) => {
  const { dashboard, ask, close } = await walkWorld()
  t.after(close)
  const wrong: string[] = []
  let tagged = 0
  for (const route of dashboard.routes.filter(({ method, once }) => method === 'GET' && once !== true)) {
    const { status, headers } = await ask(route, {})
    const changed = dashboard.routes.some(({ method, path }) => method !== 'GET' && path === route.path)
    // A list that is sent as it is read: nobody knows its digest before its end.
    const isPieced = headers['transfer-encoding'] === 'chunked'
    if (status !== 200 || headers.etag === undefined) {
      if (status === 200 && changed && !isPieced && route.answerType === undefined)
        wrong.push(`${callOf(route)} has no ETag`)
      continue
    }
    tagged++
    for (const known of [`W/${headers.etag}`, `"other", ${headers.etag}`, '*']) {
      const again = await ask(route, { 'if-none-match': known })
      if (again.status !== 304 || again.text !== '' || again.headers.etag !== headers.etag)
        wrong.push(`${callOf(route)} with ${known}: ${again.status} ${again.text.slice(0, 60)}`)
    }
    const { status: other } = await ask(route, { 'if-none-match': '"other"' })
    if (other !== 200) wrong.push(`${callOf(route)} with another: ${other}`)
  }
  assert.deepEqual(wrong, [])
  assert.ok(tagged > 40, `${tagged}`)
})

test('a PUT that may only create is refused where something is there', async (t) => {
  const { dashboard, ask, store, restore, close } = await walkWorld()
  t.after(close)
  const wrong: string[] = []
  for (const route of dashboard.routes.filter(({ method }) => method === 'PUT')) {
    const read = dashboard.routes.find(({ method, path }) => method === 'GET' && path === route.path)
    if (read === undefined || (await ask(read, {}, route)).status !== 200) continue
    await ask(route, { 'if-none-match': '*' })
    const before = await store.documents.revision()
    const { status, text } = await ask(route, { 'if-none-match': '*' })
    if (status !== 412 && (status < 400 || (await ask(route, {})).status !== status))
      wrong.push(`${callOf(route)}: ${status} ${text.slice(0, 100)}`)
    if ((await store.documents.revision()) !== before) wrong.push(`${callOf(route)} changed something`)
    await restore()
  }
  assert.deepEqual(wrong, [])
})
