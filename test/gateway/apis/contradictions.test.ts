import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONTRADICTIONS } from '../../../src/model/apis/check/definition-warnings.ts'
import { putAt, toWords } from '../../../src/model/apis/definition/tree.ts'
import type { Schema } from '../../../src/model/apis/schema/schema.ts'
import { CLASSIC_SCHEMA } from '../../../src/model/apis/schema/schema-classic.ts'
import { EXTENSION_SCHEMA } from '../../../src/model/apis/schema/schema-oas.ts'
import { isObject, type Json, type JsonObject } from '../../../src/model/json/json.ts'
import { classic, defined } from '../../worlds/base/definitions.ts'
import { startTestGateway } from '../../worlds/base/harness.ts'
import { startOrigin } from '../../worlds/servers/origin.ts'

/** Beside a switch that is on: what it needs to mean something. */
const CONTENT: Readonly<Record<string, readonly (readonly [path: string, value: Json])[]>> = {
  enable_ip_whitelisting: [['allowed_ips', ['192.0.2.1']]],
  enable_ip_blacklisting: [['blacklisted_ips', ['127.0.0.1']]],
  global_rate_limit: [['global_rate_limit', { rate: 1, per: 60 }]],
  rateLimit: [['x-svc-api-gateway.upstream.rateLimit', { enabled: true, rate: 1, per: '60s' }]],
  enable_jwt: [
    ['jwt_source', Buffer.from('a-secret-of-thirty-two-bytes-or-more').toString('base64')],
    ['jwt_signing_method', 'hmac'],
    ['jwt_policy_field_name', 'pol'],
    ['jwt_default_policies', ['p']],
  ],
  use_oauth2: [['oauth_meta', { allowed_access_types: ['client_credentials'] }]],
}

/** Switches that turn off the section which holds them, or what is theirs alone, by their last names: no other switch says otherwise. */
const OF_A_SECTION = new Set([
  ...[
    'disabled',
    'tags_disabled',
    'domain_disabled',
    'config_data_disabled',
    'error_overrides_disabled',
    'disable_quota',
  ],
  ...['global_headers_disabled', 'global_response_headers_disabled', 'global_size_limit_disabled'],
  ...['global_enforce_timeout_disabled', 'certificate_pinning_disabled', 'upstream_certificates_disabled'],
  ...['disable_header', 'disable_caching', 'disable_strip_slash', 'disable_half_open_state'],
  ...['idp_client_id_mapping_disabled', 'jwt_disable_expires_at_validation', 'jwt_disable_issued_at_validation'],
  ...['jwt_disable_not_before_validation', 'disableCaching', 'skipQuota', 'skipQuotaReset', 'skipUnavailableHosts'],
  ...[
    'disableExpiresAtValidation',
    'disableIssuedAtValidation',
    'disableNotBeforeValidation',
    'skipKid',
    'jwt_skip_kid',
    'disable_expires_at_validation',
    'ssl_insecure_skip_verify',
  ],
])

test('switches that contradict each other are named by a save, which says which one counts', async (t) => {
  const origin = await startOrigin()
  t.after(() => origin.close())
  const gateway = await startTestGateway()
  t.after(() => gateway.close())
  const counts = { closed: 0, open: 0, refused: 0 }
  for (const [number, { format, off, on, closed }] of CONTRADICTIONS.entries()) {
    const id = `s${number}`
    const made = async (...switches: (typeof off)[]) => {
      const definition = format === 'oas' ? defined({ id, url: origin.url }) : classic(id, `/${id}/`, origin.url)
      if (off[0] !== 'use_keyless') putAt(definition, ['use_keyless'], true)
      else putAt(definition, ['use_keyless'], false)
      const content = CONTENT[on.at(-1)!] ?? []
      for (const path of switches)
        if (path !== on || content.every(([at]) => at !== on.join('.'))) putAt(definition, path, true)
      for (const [path, value] of content) putAt(definition, path.split('.'), value)
      await gateway.svc('DELETE', `/svc/apis/${id}`)
      return gateway.svc('POST', format === 'oas' ? '/svc/apis/oas' : '/svc/apis', definition)
    }
    const refused = async () => {
      await gateway.call(`/${id}/`)
      return (await gateway.call(`/${id}/`)).status >= 400
    }
    const says = `${toWords(off)} ${toWords(on)}`
    const alone = await made(on)
    if (alone.status !== 200) {
      counts.refused++
      continue
    }
    assert.equal(await refused(), true, `${says}: alone it protects`)
    const both = await made(off, on)
    assert.equal(both.status, 200, both.text)
    assert.match(both.text, new RegExp(`has no effect: ..?${closed ? on.at(-1) : off.at(-1)}`), says)
    assert.equal(await refused(), closed, says)
    counts[closed ? 'closed' : 'open']++
  }
  assert.ok(counts.closed >= 2 && counts.open >= 5, JSON.stringify(counts))
})

test('every switch of the schemas that turns something off is judged', () => {
  const judged = new Set(CONTRADICTIONS.map(({ off }) => off.at(-1)!))
  const found = new Set<string>()
  const walk = (schema: Schema) => {
    for (const [name, inner] of Object.entries(
      isObject(schema.properties ?? null) ? (schema.properties as JsonObject) : {},
    )) {
      if (/disabled?(?:$|_|[A-Z])|^skip|_skip_|use_keyless/.test(name)) found.add(name)
      walk(inner as Schema)
    }
    for (const inner of [schema.items, schema.additionalProperties]) if (isObject(inner ?? null)) walk(inner as Schema)
  }
  walk(CLASSIC_SCHEMA)
  walk(EXTENSION_SCHEMA)
  assert.deepEqual(
    [...found].filter((name) => !judged.has(name) && !OF_A_SECTION.has(name)),
    [],
  )
})
