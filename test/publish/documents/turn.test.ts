import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFault } from '../../../src/errors/fault.ts'
import { newDocumentId } from '../../../src/model/documents/ids.ts'
import type { JsonObject } from '../../../src/model/json/json.ts'
import { FakeClock } from '../../../src/model/time/clock.ts'
import type { SecretParts } from '../../../src/publish/documents/parts.ts'
import {
  findOrganisation,
  newOrganisation,
  updateOrganisation,
} from '../../../src/publish/organisations/organisations.ts'
import { deleteUser, findUserById, updateUser } from '../../../src/publish/people/users.ts'
import { createPolicy, updatePolicy } from '../../../src/publish/policies/policies.ts'
import { saveCname } from '../../../src/publish/portal/settings/look.ts'
import { KeyedMutex } from '../../../src/runtime/keyed-mutex.ts'
import { adapters } from '../../contract/adapters.ts'

const CONFIG = {
  gateway: { hash_keys: true, min_token_length: 16, allow_explicit_policy_id: true, enable_duplicate_slugs: false },
  compat: { vendor_aliases: [] },
}
const NODES = 3

/** Writes that only some nodes may win; `prepare` answers what each node tries, and the result names how many are stored. */
type Race = (parts: SecretParts, round: number) => Promise<(node: SecretParts, index: number) => Promise<unknown>>

const put = async (parts: SecretParts, kind: string, body: JsonObject) => {
  const id = newDocumentId(parts.clock!.wall())
  await parts.documents.commit([{ op: 'put', kind, id, body, ifRevision: 0 } as never], undefined)
  return id
}
const edit = { actor: 'Ann', action: 'user.update', mayLeaveNoAdmin: false, sharedEmail: false } as const
const admins = async (parts: SecretParts, round: number) => {
  const org_id = await put(parts, 'organisation', { owner_name: `o${round}` })
  const permissions = { user_permissions: { IsAdmin: 'admin' } }
  return Promise.all(
    Array.from({ length: NODES }, async (_, index) => {
      const body = {
        org_id,
        active: true,
        group_id: '',
        email_address: `a${round}${index}${org_id}@x.test`,
        ...permissions,
      }
      return (await findUserById(parts, await put(parts, 'user', body)))!
    }),
  )
}

const RACES: Readonly<Record<string, { readonly race: Race; readonly code: string; readonly stored: number }>> = {
  'a new policy of one name': {
    race: async (_parts, round) => (node, index) =>
      createPolicy(node, { id: `p${round}${index}`, name: `same${round}` }, 'Ann', { uniqueNames: true }),
    ...{ code: 'policy_name_taken', stored: 1 },
  },
  'a policy renamed to one name': {
    race: async (parts, round) => {
      for (let index = 0; index < NODES; index++)
        await createPolicy(parts, { id: `r${round}${index}`, name: `r${round}${index}` }, 'Ann')
      return (node, index) =>
        updatePolicy(node, { id: `r${round}${index}` }, { name: `renamed${round}` }, 'Ann', { uniqueNames: true })
    },
    ...{ code: 'policy_name_taken', stored: 1 },
  },
  'one host for portals': {
    race: async (parts, round) => {
      const orgs = await Promise.all(Array.from({ length: NODES }, () => put(parts, 'organisation', {})))
      const cname = `P${round}.test`
      const found = (await findOrganisation(parts, orgs[1]!))!
      const ways: readonly ((node: SecretParts) => Promise<unknown>)[] = [
        (node) => saveCname(node, { orgId: orgs[0]!, cname, actor: 'Ann' }),
        (node) => updateOrganisation(node, found, { cname: cname.toLowerCase() }, 'Ann'),
        (node) => newOrganisation(node, { owner_name: `host${round}`, cname }, { actor: 'Ann' }),
      ]
      return (node, index) => ways[index]!(node)
    },
    ...{ code: 'portal_taken', stored: 1 },
  },
  'the end of the last administrators by deletion': {
    race: async (parts, round) => {
      const users = await admins(parts, round)
      return (node, index) => deleteUser(node, users[index]!, 'Ann')
    },
    ...{ code: 'last_admin', stored: NODES - 1 },
  },
  'the end of the last administrators by an edit': {
    race: async (parts, round) => {
      const users = await admins(parts, round)
      return (node, index) => updateUser(node, users[index]!, { active: false }, edit)
    },
    ...{ code: 'last_admin', stored: NODES - 1 },
  },
}

for (const { name, open } of adapters)
  for (const [what, { race, code, stored }] of Object.entries(RACES))
    test(`${name}: of nodes that race for ${what}, ${stored} get through`, async (t) => {
      const clock = new FakeClock()
      const { documents, tokens, counters } = await open(t, clock)
      // Each its own lock, as on a separate machine: they share only the store.
      const nodes = Array.from({ length: NODES }, (): SecretParts => {
        const shared = { documents: { ...documents }, tokens, counters, config: CONFIG, clock }
        return { ...shared, sealKey: new Uint8Array(32), defaultOrg: () => 'o', locks: new KeyedMutex() }
      })
      for (let round = 0; round < 2; round++) {
        const attempt = await race(nodes[0]!, round)
        const results = await Promise.all(
          nodes.map((node, index) =>
            attempt(node, index).then(
              () => 'stored',
              (error: unknown) => toFault(error).code,
            ),
          ),
        )
        const expected = [...Array(NODES - stored).fill(code), ...Array(stored).fill('stored')]
        assert.deepEqual(results.sort(), expected)
      }
    })
