import { arrayOf, said } from '../../model/openapi/component-schemas.ts'
import { POLICY_SCHEMA } from '../../model/policies/policy.ts'
import {
  type AdminOperations,
  changedObject,
  inJson,
  OF_ORGANISATION,
  PAGE,
  PAGE_COUNT,
  WARNING_LIST,
} from './admin-operation.ts'

const PolicySaved = changedObject('PolicySaved', ['added', 'modified', 'deleted'], {
  warnings: said(
    WARNING_LIST,
    'Members without effect; limits that the policy had and that the body left out; APIs that are not there; paths of rights that were written out.',
  ),
})

/** Policies. */
export const POLICY_OPERATIONS: AdminOperations = {
  'GET /policies': {
    id: 'listPolicies',
    summary: 'List policies',
    query: { ...PAGE, ...OF_ORGANISATION },
    answer: arrayOf(POLICY_SCHEMA),
    fields: PAGE_COUNT,
  },
  'POST /policies': {
    id: 'createPolicy',
    summary: 'Create a policy',
    query: OF_ORGANISATION,
    body: inJson(POLICY_SCHEMA),
    answer: PolicySaved,
  },
  'GET /policies/{id}': {
    id: 'getPolicy',
    summary: 'Get a policy by `id` or `_id`',
    query: OF_ORGANISATION,
    answer: POLICY_SCHEMA,
  },
  'PUT /policies/{id}': {
    id: 'updatePolicy',
    summary: 'Replace a policy',
    query: OF_ORGANISATION,
    body: inJson(POLICY_SCHEMA),
    answer: PolicySaved,
  },
  'DELETE /policies/{id}': {
    id: 'deletePolicy',
    summary: 'Delete a policy',
    query: OF_ORGANISATION,
    answer: PolicySaved,
  },
}
