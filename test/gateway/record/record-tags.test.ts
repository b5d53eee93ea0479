import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiTags } from '../../../src/gateway/record/tags.ts'

const fields = (values: Record<string, string>) => ({ get: (name: string) => values[name] })
const none = fields({})

const session = {
  apply_policies: ['gold', 'base'],
  tags: ['team-a', 'edge'],
  meta_data: { svc_developer_id: 'd1', other: 1 },
}

test('policies, developer, session, API and node tags, sorted, each once', () => {
  const api = new ApiTags({ apiTags: ['edge', 'public'], nodeTags: ['eu'], tagHeaders: [] })
  assert.equal(api.forSession(session).key(none), 'dev-d1,edge,eu,pol-base,pol-gold,public,team-a')
  assert.equal(api.forSession(undefined).key(none), 'edge,eu,public')
})

test('a session without anything has no tags', () => {
  const api = new ApiTags({ apiTags: [], nodeTags: [], tagHeaders: ['X-Team'] })
  assert.equal(api.forSession({}).key(none), '')
  assert.equal(api.forSession({ tags: null, meta_data: { svc_developer_id: 7 } }).key(none), '')
})

test('values of the named headers become tags, bounded in length', () => {
  const api = new ApiTags({ apiTags: ['z'], nodeTags: [], tagHeaders: ['X-Team', 'x-team', 'X-Zone'] })
  const tags = api.forSession(undefined)
  assert.equal(tags.key(fields({ 'x-team': 'Blue', 'x-zone': '1' })), 'x-team-Blue,x-zone-1,z')
  assert.equal(tags.key(fields({ 'x-zone': '1' })), 'x-zone-1,z')
  assert.equal(tags.key(fields({ 'x-team': '' })), 'z')
  assert.equal(tags.key(fields({ 'x-team': 'a'.repeat(100) })), `x-team-${'a'.repeat(64)},z`)
})

test('the same headers give the same text object, without joining again', () => {
  const api = new ApiTags({ apiTags: ['z'], nodeTags: [], tagHeaders: ['X-Team'] })
  const tags = api.forSession(undefined)
  assert.equal(tags.key(fields({ 'x-team': 'Blue' })), tags.key(fields({ 'x-team': 'Blue' })))
  assert.equal(tags.key(none), tags.base)
})

test('beyond a hundred values of a header the rest is `other`, in every session of the API', () => {
  const api = new ApiTags({ apiTags: [], nodeTags: [], tagHeaders: ['x-id'] })
  const tags = api.forSession(undefined)
  const seen = new Set<string>()
  for (let i = 0; i < 5000; i++) seen.add(tags.key(fields({ 'x-id': `v${i}` })))
  assert.equal(seen.size, 101)
  assert.ok(seen.has('x-id-other'))
  assert.equal(
    api
      .forSession(session)
      .key(fields({ 'x-id': 'v4999' }))
      .includes('x-id-other'),
    true,
  )
  assert.equal(tags.key(fields({ 'x-id': 'v3' })), 'x-id-v3')
})

test('combinations of headers beyond what is remembered are still right', () => {
  const api = new ApiTags({ apiTags: ['z'], nodeTags: [], tagHeaders: ['a', 'b'] })
  const tags = api.forSession(undefined)
  for (let i = 0; i < 50; i++)
    for (let j = 0; j < 50; j++) assert.equal(tags.key(fields({ a: `${i}`, b: `${j}` })), `a-${i},b-${j},z`)
})

test('commas and control characters cannot forge a second tag', () => {
  const api = new ApiTags({ apiTags: ['a,b'], nodeTags: [], tagHeaders: ['x'] })
  assert.equal(api.forSession({ tags: ['c,pol-gold'] }).key(fields({ x: 'v,w\tz' })), 'a_b,c_pol-gold,x-v_w_z')
})

test('a value named __proto__ is a value like any other', () => {
  const tags = new ApiTags({ apiTags: [], nodeTags: [], tagHeaders: ['x'] }).forSession(undefined)
  assert.equal(tags.key(fields({ x: '__proto__' })), 'x-__proto__')
})
