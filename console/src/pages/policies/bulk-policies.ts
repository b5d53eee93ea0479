import { deletePolicy, type Policy, type PolicyState, readPolicy, savePolicy } from '../../api/access/policies.ts'
import { saveJson } from '../../parts/charts/save-file.ts'
import type { BulkAction } from '../../parts/tables/bulk-actions.tsx'
import { say } from '../../texts/say.ts'

/** Actions on chosen policies; those that change them for users who may write policies. */
export function policyActions(mayWrite: boolean): readonly BulkAction<Policy>[] {
  const rest: BulkAction<Policy> = {
    ...{ name: 'export', label: say('list.export'), hint: say('list.exportHint') },
    run: ({ id }) => readPolicy(id),
    finish: (policies) => saveJson(policies, 'policies.json'),
  }
  if (!mayWrite) return [rest]
  const to = (name: string, label: string, hint: string, state: PolicyState): BulkAction<Policy> => ({
    ...{ name, label, hint },
    run: ({ id }) => setState(id, state),
  })
  return [
    to('activate', say('list.activate'), say('policies.activateHint'), 'active'),
    to('block', say('policies.block'), say('policies.blockHint'), 'deny'),
    rest,
    {
      ...{ name: 'delete', label: say('list.delete'), hint: say('policies.deleteManyHint'), isGrave: true },
      run: ({ id }) => deletePolicy(id),
    },
  ]
}

/** Read again, so that only the state changes, with edits of others kept. */
async function setState(id: string, state: PolicyState): Promise<void> {
  const policy = await readPolicy(id)
  await savePolicy(id, { ...policy, state, active: state === 'active', is_inactive: state === 'deny' })
}
