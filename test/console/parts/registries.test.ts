import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_NAMES, isDashboardEvent } from '../../../console/src/api/platform/api-events.ts'
import { DIMENSION_NAMES, dimensionRow } from '../../../console/src/api/traffic/dimensions.ts'
import { ruleOf } from '../../../console/src/pages/requests/refusal-rules.ts'
import { DIMENSION_LISTS } from '../../../src/dashboard/analytics/dimensions.ts'
import { PARAMETERS } from '../../../src/dashboard/analytics/params.ts'
import { TRAFFIC_ERRORS } from '../../../src/errors/catalog-traffic.ts'
import { API_EVENT_NAMES } from '../../../src/model/webhooks/api-events.ts'

const sorted = (names: readonly string[]) => [...names].sort()

test('the console names every event that the gateway tells, and no other', () => {
  assert.deepEqual(sorted(EVENT_NAMES.filter((name) => !isDashboardEvent(name))), sorted(API_EVENT_NAMES))
})

test('the console shows every dimension that the dashboard lists', () => {
  const shown = DIMENSION_NAMES.map((name) => dimensionRow(name).path)
  for (const { path } of DIMENSION_LISTS) assert.ok(shown.includes(path), path)
})

test('the dashboard takes every filter that the console sends', () => {
  for (const name of DIMENSION_NAMES) {
    const { parameter } = dimensionRow(name)
    const sent = typeof parameter === 'string' ? [parameter] : Object.keys(parameter('x'))
    for (const each of sent) assert.ok(Object.hasOwn(PARAMETERS, each), each)
  }
})

test('the console knows where the rule of every refusal of traffic is', () => {
  for (const code of Object.keys(TRAFFIC_ERRORS))
    assert.notEqual(ruleOf({ ErrorCode: code, APIID: 'a', APIKey: 'k' }), undefined, code)
})
