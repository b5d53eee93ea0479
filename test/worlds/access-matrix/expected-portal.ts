/**
 * Calls that need the permission `portal`, under one of their two spellings: what their placeholders name, and the rest. `session`
 * is a body that names policies.
 */
export function portalCalls(base: string, session: unknown) {
  const developers = `${base}/developers`
  return [
    [`GET ${developers}`, [], {}],
    [`POST ${developers}`, [], { body: { email: 'new@example.test' } }],
    [`GET ${developers}/email/{}`, [], {}],
    [`GET ${developers}/ssokey/{}`, [], {}],
    [`GET ${developers}/api/{}`, ['api'], { owned: 0 }],
    [`GET,PUT,DELETE ${developers}/{}`, ['developer'], { body: { email: 'changed@example.test' } }],
    [`PATCH ${developers}/{}`, ['developer'], { body: { inactive: true } }],
    [`POST ${developers}/verify_credentials`, [], {}],
    [`POST ${developers}/password/{}`, ['developer'], { body: { password: 'a-Long-enough-1' } }],
    [`GET ${base}/requests`, [], {}],
    [`POST ${base}/requests`, [], { body: { by_user: 'nobody', for_plan: 'none' } }],
    [`GET,PUT,DELETE ${base}/requests/{}`, ['request'], { owned: 0 }],
    [`PUT ${base}/requests/approve/{}`, ['request'], { owned: 0 }],
    [`GET,PUT,POST ${base}/configuration`, [], {}],
    [`GET,PUT,POST ${base}/catalogue`, [], {}],
    [`GET,POST ${base}/documentation`, [], {}],
    [`GET,DELETE ${base}/documentation/{}`, ['documentation'], { owned: 0 }],
    [`GET,POST ${base}/pages`, [], { body: { slug: 'changed' } }],
    [`GET,PUT,DELETE ${base}/pages/{}`, ['page'], { body: { slug: 'changed' } }],
    [`GET,PUT,POST ${base}/menus`, [], {}],
    [`GET,PUT,POST ${base}/css`, [], {}],
    [`GET,PUT,POST ${base}/js`, [], {}],
    [`PUT ${base}/cname`, [], { body: { cname: 'portal.example.test' } }],
    // Keys and OAuth apps of developers, and the older calls for them.
    [`GET,POST ${developers}/{}/keys`, ['developer'], { body: session }],
    [`POST ${developers}/{}/subscriptions`, ['developer'], { body: session }],
    [`GET,PUT,DELETE ${developers}/{}/keys/{}`, ['developer', 'held_key'], { owned: 1, body: session }],
    [`POST ${developers}/{}/keys/{}/reset_quota`, ['developer', 'held_key'], { owned: 1 }],
    [`POST ${developers}/{}/keys/{}/rotate`, ['developer', 'held_key'], { owned: 1 }],
    [`GET,PUT,DELETE ${developers}/oauth/{}`, ['app'], { owned: 0 }],
    [`POST ${developers}/oauth/{}/rotate`, ['app'], { owned: 0 }],
    [`GET ${developers}/{}/{}/{}`, ['developer', 'held_key', 'policy'], { owned: 1, writes: true }],
    [`DELETE ${developers}/key/{}/{}/{}`, ['policy', 'held_key', 'developer'], { owned: 1 }],
    [`POST ${developers}/key/{}/{}/{}/reset_quota`, ['policy', 'held_key', 'developer'], { owned: 1 }],
    [`DELETE ${developers}/oauth/{}/{}`, ['api', 'app'], { owned: 1 }],
  ] as const
}
