import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Answer } from '../../worlds/base/client.ts'
import { type OAuthWorld, SECRET } from '../../worlds/flows/oauth-world.ts'
import type { Case } from '../../worlds/oauth/negative.ts'
import { PROOF_CASES, REQUEST_CASES } from '../../worlds/oauth/negative-front.ts'
import { GRANT_CASES, TOKEN_STATE_CASES } from '../../worlds/oauth/negative-grants.ts'
import { bodyOf, post } from '../../worlds/oauth/negative-requests.ts'
import { CLIENT_CASES, TOKEN_CASES } from '../../worlds/oauth/negative-token.ts'
import { type Side, startOurs, startPeer } from '../../worlds/oauth/sides.ts'

// The same faulty requests to the gateway and to npm oidc-provider. Where the answers are not the same, the case says why.

const SUITES: Readonly<Record<string, readonly Case[]>> = {
  'a token request': TOKEN_CASES,
  'client authentication': CLIENT_CASES,
  'a grant': GRANT_CASES,
  'tokens and devices': TOKEN_STATE_CASES,
  'a DPoP proof': PROOF_CASES,
  'an authorization request': REQUEST_CASES,
}

let ours: Side
let peer: Side
let world: OAuthWorld
before(async () => {
  ;({ side: ours, world } = await startOurs())
  peer = await startPeer()
})
after(async () => {
  await peer.close()
  await ours.close()
  // closing has written what the access log still held
  const { log, accessLines } = world.gateway
  assert.ok(accessLines.length >= 100)
  assert.ok(!accessLines.join('').includes(SECRET) && !JSON.stringify(log).includes(SECRET), 'a secret is in a log')
  assert.deepEqual(
    log.filter(({ level }) => level === 'error'),
    [],
  )
})

for (const [about, cases] of Object.entries(SUITES))
  describe(about, () => {
    for (const { what, ours: expected, peer: otherwise, why, run } of cases)
      test(otherwise === undefined ? what : `${what} (the peer: ${otherwise}. ${why})`, async () => {
        const answer = await run(ours)
        assert.equal(outcome(answer), expected, answer.text)
        checkClean(answer)
        const theirs = await run(peer)
        assert.equal(outcome(theirs), otherwise ?? expected, theirs.text)
      })
  })

test('Pragma is on all of our responses (RFC 6749 section 5.1), and on none of the peer', async () => {
  for (const [at, form] of [
    ['token', { grant_type: 'client_credentials' }],
    ['introspect', { token: 'x' }],
    ['revoke', { token: 'x' }],
    ['par', {}],
    ['device', {}],
  ] as const) {
    assert.equal((await post(ours, at, form)).headers.pragma, 'no-cache', at)
    assert.equal((await post(peer, at, form)).headers.pragma, undefined, at)
  }
})

test('every difference is explained by a section, and there are no others', () => {
  const all = Object.values(SUITES).flat()
  assert.ok(all.length >= 100, String(all.length))
  for (const { what, ours: expected, peer: otherwise, why } of all) {
    assert.equal(otherwise === undefined, why === undefined, what)
    assert.notEqual(otherwise, expected, what)
    if (why !== undefined) assert.match(why, /^RFC \d+ (section [\d.]+|appendix [A-Z])/, what)
  }
})

/** An answer in the words of a case. */
function outcome(answer: Answer): string {
  const { status, headers } = answer
  const { location } = headers
  const to = location === undefined ? undefined : new URL(location, 'http://self')
  const { error = to?.searchParams.get('error') ?? undefined, active } = bodyOf(answer)
  const scheme = headers['www-authenticate']?.split(' ')[0]
  const parts = [
    String(status),
    error,
    active === undefined ? undefined : `active=${active}`,
    scheme,
    to === undefined ? undefined : `> ${to.host}`,
    headers['cache-control']?.includes('no-store') ? undefined : 'cacheable',
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}

/** Rules for every response. */
function checkClean({ status, headers, text }: Answer): void {
  assert.ok(status < 500, text)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.doesNotMatch(text + JSON.stringify(headers), /node_modules|node:internal|\.ts:\d+|\n\s+at /, 'no stack')
  assert.ok(!text.includes(SECRET), 'no secret')
  if (headers.location === undefined) assert.equal(headers['content-type'], 'application/json')
}
