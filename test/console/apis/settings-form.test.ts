import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Definition } from '../../../console/src/api/apis/apis.ts'
import { operationsOf } from '../../../console/src/pages/apis/openapi/openapi-operations.ts'
import {
  operationPlaces,
  operationValues,
  withOperation,
} from '../../../console/src/pages/apis/operations/operation-settings.ts'
import {
  ENTRY_KINDS,
  type EntryKind,
  entriesOf,
  entryPlaces,
  entryWith,
  freshValues,
} from '../../../console/src/pages/apis/settings/entry-kinds.ts'
import { placesOf, SECTIONS, valuesOf, withValues } from '../../../console/src/pages/apis/settings/sections.ts'
import { faultsAt, flawsIn } from '../../../console/src/parts/editors/openapi-place.ts'
import type { FormValues } from '../../../console/src/parts/forms/form-values.ts'
import { Fault } from '../../../src/errors/fault.ts'
import { getAt } from '../../../src/model/apis/definition/tree.ts'
import { readApi } from '../../../src/model/apis/read/read.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { classic, oas } from '../../worlds/model/api-samples.ts'

const isOas = (definition: Definition) => 'openapi' in definition
const NOTHING = [classic({ use_keyless: true }), oas({})] as readonly Definition[]
const HASH = 'a'.repeat(64)

const read = (definition: Definition) => {
  const { upstream, cache, modules, events, mcpTools } = readApi({
    ...{ api_id: 'i', org_id: 'o', name: 'n', format: isOas(definition) ? 'oas' : 'classic' },
    definition: definition as JsonObject,
  })
  return { upstream, cache, modules, events, mcpTools }
}

const filled = (definition: Definition, values: FormValues) => withValues(definition, isOas(definition), values)

/** The definition after an entry was added to one of its lists. */
function added(definition: Definition, name: EntryKind['name'], values: FormValues): Definition {
  const kind = ENTRY_KINDS[name]
  const asOas = isOas(definition)
  const before = entriesOf(kind, definition, asOas).map(({ held }) => held)
  const made = entryWith(kind, {}, asOas, { ...freshValues(kind, asOas), ...values })
  return kind.listing.write(definition, asOas, [...before, made])
}

const FORMS: readonly FormValues[] = [
  {
    ...{ cacheKeep: 'all', cacheFor: 30, cacheUpstream: true, cacheHeader: 'X-Ttl', cacheStatuses: ['200', '404'] },
    ...{ cacheByHeaders: ['Accept'], cacheShared: true, cacheCookies: true, cacheStale: 5, cacheStaleError: 50 },
  },
  { cacheKeep: 'none' },
  {
    ...{ checked: true, checkEvery: 2, checkDownEvery: 1.5, checkFailures: 1, checkSuccesses: 4, skipDown: true },
    ...{ ejected: true, ejectAfter: 3, ejectFor: 10, ejectMost: 20, ejectShare: 0 },
    ...{ retried: true, retryTimes: 3, retryStatuses: ['500'], retryBudget: 0, retryLeast: 0 },
  },
  { discovery: true, srvName: '_http._tcp.orders.example', srvRefresh: 60 },
  { mcpAllow: ['read', 'find'], mcpBlock: ['drop'] },
  { showing: true, pinned: false },
  { moduleTold: true, moduleConfig: '{"word":["a",1]}' },
]

test('each setting is written in both formats to the same effect, and read back as it was typed', () => {
  for (const values of FORMS) {
    const [left, right] = NOTHING.map((definition) => filled(definition, values))
    assert.deepEqual(read(left!), read(right!), JSON.stringify(values))
    for (const definition of [left!, right!]) {
      const shown = valuesOf(definition, isOas(definition))
      for (const [name, value] of Object.entries(values)) assert.deepEqual(shown[name], value, name)
      assert.equal(filled(definition, shown), definition, 'saving what is there changes nothing')
    }
  }
})

test('lists of MCP tools leave the other rules of a tool as they are', () => {
  const limit = { enabled: true, rate: 1, per: '1m' }
  const rules = { read: { allow: { enabled: true }, rateLimit: limit }, drop: { block: { enabled: true } } }
  for (const empty of NOTHING) {
    const place = isOas(empty) ? ['x-svc-api-gateway', 'middleware'] : []
    const before = filled(empty, { mcpAllow: ['read'], mcpBlock: ['drop'] })
    const at = (definition: Definition) =>
      getAt(definition as JsonObject, [...place, isOas(empty) ? 'mcpTools' : 'mcp_tools'])
    assert.deepEqual(at(before), { read: { allow: { enabled: true } }, drop: { block: { enabled: true } } })
    Object.assign(at(before) as JsonObject, structuredClone(rules))
    const after = filled(before, { mcpAllow: ['send'], mcpBlock: ['read'] })
    assert.deepEqual(at(after), {
      read: { rateLimit: limit, block: { enabled: true } },
      send: { allow: { enabled: true } },
    })
    assert.equal(at(filled(after, { mcpAllow: [], mcpBlock: ['read'] })) !== undefined, true)
  }
})

test('what is taken out of a field is what the gateway does by itself again', () => {
  const empty: FormValues = Object.fromEntries(
    Object.entries({ ...FORMS[0], ...FORMS[2] }).map(([name, value]) => [
      name,
      Array.isArray(value) ? [] : typeof value === 'boolean' ? false : '',
    ]),
  )
  for (const definition of NOTHING) {
    const changed = filled(filled(definition, { ...FORMS[0]!, ...FORMS[2]! }), { ...empty, cacheKeep: 'none' })
    assert.deepEqual(read(changed), read(definition))
  }
})

const THINGS: readonly (readonly [EntryKind['name'], FormValues, FormValues?])[] = [
  [
    'checks',
    {
      ...{ checkUrl: '/well', checkMethod: 'POST', checkStatuses: ['204'], checkTimeout: 0.5 },
      ...{ checkHeaders: ['Accept: text/plain'], checkBody: 'hi' },
    },
    { checked: true },
  ],
  ['shown', { shownDomain: '*.example.org:8443', shownId: `c${HASH}` }, { showing: true }],
  ['pins', { pinDomain: 'up:8443', pinKeys: [HASH, HASH.replaceAll('a', 'b')] }, { pinned: true }],
  [
    'handlers',
    {
      ...{ eventName: 'HostDown', eventUrl: 'https://a.example/hook', eventMethod: 'PUT' },
      ...{ eventHeaders: ['X-From: here: there'], eventCooldown: 90 },
    },
  ],
  ['handlers', { eventName: 'AuthFailure', eventTo: 'log', eventPrefix: 'orders', eventCooldown: '' }],
  ['modules', { modulePhase: 'pre', moduleFile: 'a/b.ts', moduleFunction: 'first', moduleBody: 2048 }],
  ['modules', { modulePhase: 'response', moduleFile: 'c.ts', moduleFunction: 'last' }],
]

test('list entries are written alike in both formats and read back as typed', () => {
  for (const [name, values, besides = {}] of THINGS) {
    const [left, right] = NOTHING.map((definition) => filled(added(definition, name, values), besides))
    const served = read(left!)
    assert.deepEqual(served, read(right!), name)
    for (const definition of [left!, right!]) {
      assert.notDeepEqual(served, read(NOTHING[0]!), `${name} has an effect`)
      const [entry, ...others] = entriesOf(ENTRY_KINDS[name], definition, isOas(definition))
      assert.deepEqual(others, [])
      for (const [field, value] of Object.entries(values)) assert.deepEqual(entry!.values[field], value, field)
      const again = entryWith(ENTRY_KINDS[name], entry!.held, isOas(definition), entry!.values)
      assert.equal(again, entry!.held, 'to change nothing changes nothing')
      const gone = ENTRY_KINDS[name].listing.write(definition, isOas(definition), [])
      assert.deepEqual(entriesOf(ENTRY_KINDS[name], gone, isOas(definition)), [])
    }
  }
})

test('several things of a list keep their order, and what the form does not show of them', () => {
  for (const definition of NOTHING) {
    const asOas = isOas(definition)
    const kind = ENTRY_KINDS.handlers
    const names = ['AuthFailure', 'HostDown', 'AuthFailure']
    let next = definition
    for (const [index, eventName] of names.entries())
      next = added(next, 'handlers', { eventName, eventUrl: `https://a.example/${index}` })
    const noted = entriesOf(kind, next, asOas).map(({ held }) => ({ ...held, 'x-note': 1 }))
    next = kind.listing.write(next, asOas, noted)
    const entries = entriesOf(kind, next, asOas)
    const order = asOas ? ['0', '1', '2'] : ['0', '2', '1']
    assert.deepEqual(
      entries.map(({ values }) => values.eventUrl),
      order.map((each) => `https://a.example/${each}`),
    )
    const changed = entryWith(kind, entries[0]!.held, asOas, { ...entries[0]!.values, eventMethod: 'PUT' })
    assert.equal(changed['x-note'], 1)
    assert.equal(read(next).events?.handlers.length, 3)
  }
})

/** Words of the refusal of a definition. @throws when it is taken */
function refusalOf(definition: Definition): string {
  try {
    read(definition)
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
  return assert.fail(`it is taken: ${JSON.stringify(definition)}`)
}

test('what the dashboard finds wrong is said at its field, in both formats', () => {
  const wrong: readonly (readonly [FormValues, string])[] = [
    [{ checked: true, checkEvery: 0.01 }, 'checkEvery'],
    [{ retryStatuses: ['soon'] }, 'retryStatuses'],
    [{ retryTimes: 11 }, 'retryTimes'],
    [{ ejectShare: 101 }, 'ejectShare'],
    [{ cacheHeader: 'no name' }, 'cacheHeader'],
    [{ cacheStatuses: ['all'] }, 'cacheStatuses'],
    [{ cacheByHeaders: ['no name'] }, 'cacheByHeaders'],
    [{ discovery: true, srvName: 'no name' }, 'srvName'],
  ]
  for (const definition of NOTHING)
    for (const [values, field] of wrong) {
      const flaws = flawsIn(refusalOf(filled(definition, values)))
      const places = SECTIONS.flatMap((section) => placesOf(section, isOas(definition)))
      assert.deepEqual(Object.keys(faultsAt(flaws, places)), [field], JSON.stringify(values))
    }
})

test('what is wrong with a thing of a list is said at its field, else of the list', () => {
  const wrong: readonly (readonly [EntryKind['name'], FormValues, string, FormValues?])[] = [
    ['checks', { checkUrl: 'health' }, 'checkUrl', { checked: true }],
    ['checks', { checkStatuses: ['fine'] }, 'checkStatuses', { checked: true }],
    ['handlers', { eventUrl: 'ftp://a.example' }, 'eventUrl'],
    ['modules', { moduleFile: '../a.ts', moduleFunction: 'f' }, 'moduleFile'],
    ['modules', { moduleFile: 'a.ts', moduleFunction: '1' }, 'moduleFunction'],
    ['modules', { moduleFile: 'a.ts', moduleFunction: 'f', moduleBody: 2_000_000 }, 'moduleBody'],
    ['shown', { shownDomain: 'a b', shownId: 'c' }, '', { showing: true }],
    ['pins', { pinKeys: ['none'] }, '', { pinned: true }],
  ]
  for (const definition of NOTHING)
    for (const [name, values, field, besides = {}] of wrong) {
      const asked = filled(added(definition, name, values), besides)
      const flaws = flawsIn(refusalOf(asked))
      const kind = ENTRY_KINDS[name]
      const [entry] = entriesOf(kind, asked, isOas(asked))
      const own = faultsAt(flaws, entryPlaces(kind, entry!, isOas(asked)))
      assert.deepEqual(Object.keys(own), field === '' ? [] : [field], `${name} ${JSON.stringify(flaws)}`)
      const list = kind.listing.places(isOas(asked)).map((place) => ['list', place] as const)
      assert.deepEqual(Object.keys(faultsAt(flaws, list)), ['list'])
    }
})

const PATHS = { '/pets': { get: { operationId: 'listPets' }, post: {} } }

/** A document after the form of its first operation was filled in. */
function operated(document: Definition, values: FormValues): Definition {
  const [operation] = operationsOf(document)
  return withOperation(document, operation!, { ...operationValues(operation!.settings), ...values })
}

test('caches, breakers and templates of an operation are written and read back', () => {
  const document = oas({ document: { paths: PATHS } }) as Definition
  const values: FormValues = {
    ...{ opCache: true, opCacheFor: 7, opCacheStatuses: ['200'] },
    ...{ opBody: true, opBodyTemplate: '{"größe": "{{ .a }}"}', opBodySession: true },
    ...{ opReply: true, opReplyTemplate: '{"b": {{ .b }}}' },
  }
  const changed = operated(document, values)
  const settings = getAt(changed as JsonObject, ['x-svc-api-gateway', 'middleware', 'operations', 'listPets'])
  assert.deepEqual(settings, {
    cache: { timeout: 7, cacheResponseCodes: [200], enabled: true },
    transformRequestBody: {
      ...{ format: 'json', body: Buffer.from('{"größe": "{{ .a }}"}').toString('base64') },
      ...{ enableSession: true, enabled: true },
    },
    transformResponseBody: {
      ...{ format: 'json', body: Buffer.from('{"b": {{ .b }}}').toString('base64'), enabled: true },
    },
  })
  read(changed)
  const [operation] = operationsOf(changed)
  const shown = operationValues(operation!.settings)
  for (const [name, value] of Object.entries(values)) assert.deepEqual(shown[name], value, name)
  assert.equal(operated(changed, {}), changed, 'saving what is there changes nothing')
})

test('checks of an operation say whether defaults are filled in, or leave it to how paths match', () => {
  const document = oas({ document: { paths: PATHS } }) as Definition
  const checks = ['x-svc-api-gateway', 'middleware', 'operations', 'listPets', 'validateRequest']
  const states = [['on', { fillDefaults: true }] as const, ['off', { fillDefaults: false }] as const, ['', {}] as const]
  for (const [from] of states) {
    const before = operated(document, { opValidate: true, opValidateFill: from })
    for (const [to, member] of states) {
      const changed = operated(before, { opValidateFill: to })
      assert.deepEqual(getAt(changed as JsonObject, checks), { ...member, enabled: true })
      assert.equal(operationValues(operationsOf(changed)[0]!.settings).opValidateFill, to)
      read(changed)
    }
  }
})

test('a breaker that is switched on says what the gateway needs, and may be changed', () => {
  const document = oas({ document: { paths: PATHS } }) as Definition
  const on = operated(document, { opBreaker: true })
  read(on)
  const [operation] = operationsOf(on)
  const { opBreakerShare, opBreakerSamples, opBreakerPause, opBreakerProbe } = operationValues(operation!.settings)
  assert.deepEqual([opBreakerShare, opBreakerSamples, opBreakerPause, opBreakerProbe], [50, 20, 30, true])
  const changed = operated(on, { opBreakerShare: 7, opBreakerProbe: false })
  const breaker = ['x-svc-api-gateway', 'middleware', 'operations', 'listPets', 'circuitBreaker']
  assert.deepEqual(getAt(changed as JsonObject, breaker), {
    ...{ threshold: 0.07, sampleSize: 20, coolDownPeriod: 30, halfOpenStateEnabled: false, enabled: true },
  })
})

test('what is wrong with an operation is said at its field', () => {
  const document = oas({ document: { paths: PATHS } }) as Definition
  const wrong: readonly (readonly [FormValues, FormValues, string])[] = [
    [{ opBreaker: true }, { opBreakerShare: 0 }, 'opBreakerShare'],
    [{ opBreaker: true }, { opBreakerSamples: '' }, 'opBreakerSamples'],
    [{}, { opBody: true, opBodyTemplate: '{{ nothing }}' }, 'opBodyTemplate'],
    [{}, { opReply: true }, 'opReplyTemplate'],
    [{}, { opCache: true, opCacheStatuses: ['all'] }, 'opCacheStatuses'],
    [{}, { opRewrite: true, opRewritePattern: '(', opRewriteTo: '/a' }, 'opRewritePattern'],
  ]
  for (const [first, then, field] of wrong) {
    const asked = operated(operated(document, first), then)
    const [operation] = operationsOf(asked)
    const faults = faultsAt(flawsIn(refusalOf(asked)), operationPlaces(operation!))
    assert.deepEqual(Object.keys(faults), [field], JSON.stringify(then))
  }
})
