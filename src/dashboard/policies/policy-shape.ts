import { isDeepStrictEqual } from 'node:util'
import { type Static, Type } from 'typebox'
import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import { blankScalars } from '../../model/json/scalar-fields.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { POLICY_SCHEMA } from '../../model/policies/policy.ts'
import { stateOf } from '../../model/policies/policy-body.ts'
import { POLICY_FIELDS } from '../../model/policies/policy-fields.ts'
import { isSameMoment } from '../../model/time/date-time.ts'
import { answeredScalars } from '../routes/scalar-shapes.ts'
import { STORAGE_ID } from '../routes/text-forms.ts'

const STATES = ['active', 'draft', 'deny'] as const

/** The states that policies are listed by. */
const PolicyState = Type.Enum([...STATES])
type State = Static<typeof PolicyState>

/** A policy as the dashboard shows it. */
export const PolicyShape = Type.Object(
  {
    _id: Type.String({ pattern: STORAGE_ID }),
    id: Type.String(),
    org_id: Type.String(),
    name: Type.String(),
    active: Type.Boolean(),
    is_inactive: Type.Boolean(),
    state: PolicyState,
    ...answeredScalars(POLICY_FIELDS),
    tags: Type.Array(Type.String()),
    meta_data: Type.Record(Type.String(), Type.Unknown()),
    partitions: Type.Object({
      quota: Type.Boolean(),
      rate_limit: Type.Boolean(),
      acl: Type.Boolean(),
      complexity: Type.Boolean(),
      per_api: Type.Boolean(),
    }),
    access_rights: Type.Record(
      Type.String(),
      Type.Object({ api_id: Type.String(), api_name: Type.String(), versions: Type.Array(Type.String()) }),
    ),
    date_created: Type.String(),
    last_updated: Type.String(),
  },
  describedAs(POLICY_SCHEMA),
)

/** The defaults of a policy, in the order of the response. A zero counts as absent. */
const BLANK: JsonObject = {
  _id: '',
  id: '',
  org_id: '',
  name: '',
  active: true,
  is_inactive: false,
  state: 'active',
  ...blankScalars(POLICY_FIELDS),
  tags: [],
  meta_data: {},
  partitions: { quota: false, rate_limit: false, acl: false, complexity: false, per_api: false },
  access_rights: {},
  date_created: '0001-01-01T00:00:00Z',
  last_updated: '0',
}

const BLANK_RIGHT: JsonObject = { api_id: '', api_name: '', versions: [], allowed_urls: [], limit: null }

/** A stored policy as callers see it: every usual field, never null, in one order; unknown fields behind them. */
export function toPolicyView(stored: JsonObject): JsonObject {
  const shown = over(BLANK, stored)
  const rights = Object.entries(isObject(shown.access_rights) ? shown.access_rights : {})
  return {
    ...shown,
    ...flagsOf(stateOf(stored), stored),
    id: shown.id === '' ? shown._id! : shown.id!,
    partitions: over(BLANK.partitions as JsonObject, isObject(shown.partitions) ? shown.partitions : {}),
    access_rights: Object.fromEntries(rights.map(([apiId, right]) => [apiId, shownRight(apiId, right)])),
  }
}

/**
 * A policy from the wire with its three ways to say whether it is in force made one. `state` counts when it is another one than
 * `before` (of a new policy: than `active`), else the flags do, so that it does not matter which of them a caller edits.
 */
export function withOneState(sent: JsonObject, before: JsonObject | undefined): JsonObject {
  const { state, ...flags } = sent
  // For the check of the policy to refuse.
  if ([flags.active, flags.is_inactive].some((flag) => flag != null && typeof flag !== 'boolean')) return sent
  if (state != null && state !== '' && !STATES.some((each) => each === state)) return sent
  const chosen = STATES.find((each) => each === state)
  const wanted = chosen !== undefined && chosen !== stateOf(before ?? {}) ? chosen : (stateOf(flags) as State)
  return { ...sent, ...flagsOf(wanted, flags) }
}

/**
 * Ids of the APIs whose rights differ between two policies, those that only one of them names too.
 */
export function changedRights(before: JsonObject, after: JsonObject): string[] {
  const [old, next] = [rightsOf(before), rightsOf(after)]
  const ids = new Set([...old.keys(), ...next.keys()])
  return [...ids].filter((apiId) => !isDeepStrictEqual(old.get(apiId), next.get(apiId)))
}

/** True when two policies differ in more than the rights on single APIs: in what holds for all of them. */
export function changesMore(before: JsonObject, after: JsonObject): boolean {
  const { date_created: made } = after
  const isDated = typeof made === 'string' && made !== '' && !isSameMoment(made, String(before.date_created))
  return isDated || !isDeepStrictEqual(beyondRights(before), beyondRights(after))
}

/** Members that are not sent are those of the policy before, or follow from the write itself. */
function beyondRights(policy: JsonObject): JsonObject {
  const { access_rights: _rights, access_rights_array: _list, last_updated: _at, ...rest } = toPolicyView(policy)
  const { _id, id: _named, org_id: _org, date_created: _made, ...said } = rest
  return said
}

function flagsOf(state: string, { active }: JsonObject): JsonObject {
  if (state === 'deny') return { active: active !== false, is_inactive: true, state }
  return { active: state === 'active', is_inactive: false, state }
}

function rightsOf({ access_rights: rights }: JsonObject): Map<string, JsonObject> {
  return new Map(
    Object.entries(isObject(rights) ? rights : {}).map(([apiId, right]) => [apiId, shownRight(apiId, right)]),
  )
}

function shownRight(apiId: string, right: Json): JsonObject {
  return over({ ...BLANK_RIGHT, api_id: apiId }, isObject(right) ? right : {})
}

/** Null counts as not there. */
function over(blank: JsonObject, given: JsonObject): JsonObject {
  const said = Object.entries(given).filter(([name, value]) => value !== null || !Object.hasOwn(blank, name))
  return { ...blank, ...Object.fromEntries(said) }
}
