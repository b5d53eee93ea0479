import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { organisationShape } from '../../model/organisations/organisation.ts'
import { redact } from '../../model/secrets/redact.ts'
import { findOrganisation, setAdditionalPermissions, setOpenPolicy } from '../../publish/organisations/organisations.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { isUnbounded } from '../access/actor.ts'
import { DoneShape, OrganisationShape, PermissionsShape } from '../people/shapes.ts'
import { additionalPermissions } from '../people/view.ts'
import { bare, ok, refused } from '../routes/answer.ts'
import { described } from '../routes/described.ts'
import { DoneEnvelope, PageCount } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { pageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'

const Shape = Type.Object(
  { additional_permissions: described(PermissionsShape, 'Custom permissions by key, each with its label.') },
  { title: 'CustomPermissions' },
)

const EMPTY = 'Failed to read response body, body empty'

const OpenPolicy = Type.Object(
  {
    open_policy: Type.Object(
      {
        enabled: Type.Boolean({ description: 'Always false; true is refused, as rules are not evaluated.' }),
        rules: Type.String({ maxLength: 1_048_576, description: 'Rules in Rego. They are stored, and not evaluated.' }),
      },
      { description: 'OPA rules of the organisation.' },
    ),
  },
  { title: 'OpenPolicy' },
)
const GONE = 'Could not retrieve org detail'
/** Members that have calls of their own, or are set by the installation. */
const INNER: readonly string[] = ['event_options', 'org_options_meta', 'open_policy']

const OrgShape = Type.Omit(OrganisationShape, ['event_options', 'org_options_meta'], {
  title: 'OwnOrganisation',
  additionalProperties: true,
})

/** The caller's own organisation, and the rules that it keeps for the rule engine of others: `/api/org`, `/api/organisations`. */
export function orgRoutes(parts: DashboardParts): Route[] {
  const own = (path: string): Route => ({
    method: 'GET',
    path,
    access: 'signed-in',
    summary: "Read the caller's own organisation",
    refusals: [404],
    answers: { 200: OrgShape },
    run: async (call) => {
      const found = await findOrganisation(parts, call.actor!.orgId)
      return found === undefined ? refused(404, GONE) : bare(shown(organisationShape(found)))
    },
  })
  return [own('/api/org'), own('/api/organisations'), listRoute(parts), ...openPolicyRoutes(parts)]
}

/** Unbounded users see every organisation, all others the one that they belong to. */
function listRoute({ documents }: DashboardParts): Route {
  return {
    method: 'GET',
    path: '/api/organisations/list',
    access: 'signed-in',
    summary: 'List the organisations that the caller can see',
    query: { p: Type.Integer() },
    answers: {
      200: Type.Object({
        organisations: Type.Array(OrgShape, {
          description: 'The organisation of the caller, or all for a user without one.',
        }),
        pages: PageCount,
      }),
    },
    run: async (call) => {
      const actor = call.actor!
      const { orgId } = actor
      const shape = (stored: StoredDocument) => shown(organisationShape(stored))
      const list = { name: 'organisations', shape }
      if (isUnbounded(actor)) return listed(documents, 'organisation', {}, pageOf(call), list)
      const own = isDocumentId(orgId) ? await documents.get('organisation', orgId) : undefined
      return bare({ organisations: own === undefined ? [] : [shape(own)], pages: 1 })
    },
  }
}

function openPolicyRoutes(parts: DashboardParts): Route[] {
  const path = '/api/org/opa'
  const access = { permission: 'system' } as const
  return [
    {
      ...{ method: 'GET', path, access },
      summary: 'Get the stored OPA rules (not evaluated)',
      refusals: [404],
      answers: { 200: OpenPolicy },
      run: async (call) => {
        const found = await findOrganisation(parts, call.actor!.orgId)
        return found === undefined
          ? refused(404, GONE)
          : bare({ open_policy: { enabled: false, rules: rulesOf(found.body) } })
      },
    },
    {
      ...{ method: 'PUT', path, access },
      summary: 'Store OPA rules (not evaluated, so they cannot be enabled)',
      body: OpenPolicy,
      invalid: 'Invalid OPA rules.',
      refusals: [404],
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const { enabled, rules } = call.object().open_policy as { enabled: boolean; rules: string }
        if (enabled)
          throw fault(
            'rules_unsupported',
            'rules are kept, not evaluated: what users may do follows from permissions and owners',
          )
        const found = await findOrganisation(parts, call.actor!.orgId)
        if (found === undefined) return refused(404, GONE)
        await setOpenPolicy(parts, found, rules, call.actor!.email)
        return ok('OPA rules has been updated on org level.')
      },
    },
  ]
}

function rulesOf({ open_policy: policy }: JsonObject): string {
  return isObject(policy) && typeof policy.rules === 'string' ? policy.rules : ''
}

function shown(organisation: JsonObject): JsonObject {
  const rest = Object.entries(organisation).filter(([name]) => !INNER.includes(name))
  return redact(Object.fromEntries(rest)) as JsonObject
}

/** Custom permissions of the organisation: `/api/org/permissions`. */
export function orgPermissionRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/org/permissions',
      access: 'admin',
      summary: 'List the custom permissions of the organisation',
      answers: { 200: Shape },
      async run(call) {
        return bare({ additional_permissions: { ...(await additionalPermissions(parts, call.actor!.orgId)) } })
      },
    },
    {
      method: 'PUT',
      path: '/api/org/permissions',
      access: 'admin',
      summary: 'Replace the custom permissions of the organisation',
      body: Shape,
      bodyIs: 'any',
      refusals: [404],
      answers: { 200: DoneShape },
      async run(call) {
        if (call.bytes().length === 0) return refused(400, EMPTY)
        const { additional_permissions: names } = call.object()
        const organisation = await findOrganisation(parts, call.actor!.orgId)
        if (organisation === undefined) return refused(404, 'Could not retrieve org detail')
        await setAdditionalPermissions(parts, organisation, names, call.actor!.email)
        return ok('Additional Permissions updated in org level.')
      },
    },
  ]
}
