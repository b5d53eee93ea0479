import { Button, Paper, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { KeyRoundIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { deletePolicy, POLICIES_KEY, type Policy, readPolicy, savePolicy } from '../../api/access/policies.ts'
import { useMay } from '../../api/people/session.ts'
import { ObjectTabs } from '../../parts/display/object-tabs.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { ConfirmDelete } from '../../parts/forms/confirm-delete.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { GuardedForm } from '../../parts/forms/guarded-form.tsx'
import { History } from '../../parts/history/history.tsx'
import { NotReadable } from '../../parts/tables/not-readable.tsx'
import { say } from '../../texts/say.ts'
import { CombinedPolicies } from './combined-policies.tsx'
import { PolicyDependents } from './policy-dependents.tsx'
import { policyFields } from './policy-fields.tsx'
import { PolicyOverview } from './policy-overview.tsx'
import { policyOf, valuesOf } from './policy-values.ts'

/** One policy: what it gives, and what it comes to with others. */
export default function OnePolicy() {
  const { id = '' } = useParams({ strict: false })
  return (
    <Guarded permission="policies" title={say('shell.policies')}>
      <Loaded key={id} id={id} />
    </Guarded>
  )
}

function Loaded({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: policyKey(id),
    queryFn: ({ signal }) => readPolicy(id, signal),
  })
  const maySeeHistory = useMay('audit_logs')
  // A later failed attempt keeps the page: the user may be typing.
  if (data === undefined)
    return error === null ? (
      <Skeleton h={400} />
    ) : (
      <NotReadable error={error} retry={refetch} title={say('policies.gone')} to="/policies" />
    )
  return (
    <>
      <PageHead title={data.name || data.id} hint={data.id}>
        <Actions policy={data} />
      </PageHead>
      <ObjectTabs
        tabs={[
          { name: 'settings', label: say('policies.settings'), panel: <Settings policy={data} /> },
          { name: 'overview', label: say('overview.title'), panel: <PolicyOverview policy={data} /> },
          {
            name: 'history',
            label: say('history.title'),
            panel: <History kind="policy" id={id} />,
            isHidden: !maySeeHistory,
          },
        ]}
      />
    </>
  )
}

const policyKey = (id: string) => [...POLICIES_KEY, 'one', id] as const

function Settings({ policy }: { readonly policy: Policy }) {
  return (
    <>
      <Paper withBorder p="lg" maw={820}>
        <Form policy={policy} />
      </Paper>
      <CombinedPolicies policy={policy} />
    </>
  )
}

function Form({ policy }: { readonly policy: Policy }) {
  const client = useQueryClient()
  const may = useMay('policies', 'write')
  return (
    <GuardedForm<Policy>
      readOnly={!may}
      object={{ kind: 'policy', id: policy.id }}
      fields={policyFields(!may)}
      stored={policy}
      valuesOf={valuesOf}
      changed={(values, loaded) => ({ ...loaded, ...policyOf(values, loaded) })}
      read={() => readPolicy(policy.id)}
      write={(edited) => savePolicy(policy.id, edited)}
      edited={({ last_updated: _at, ...policy }) => policy}
      onDone={() => void client.invalidateQueries({ queryKey: POLICIES_KEY })}
    />
  )
}

function Actions({ policy }: { readonly policy: Policy }) {
  const [asked, setAsked] = useState(false)
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayMakeKeys = useMay('keys', 'write')
  const mayDelete = useMay('policies', 'write')
  const id = encodeURIComponent(policy.id)
  return (
    <>
      <Button component={Link} to={`/keys?policy=${id}`} variant="default">
        {say('policies.usedBy')}
      </Button>
      {mayMakeKeys && (
        <Button component={Link} to={`/keys/new?policy=${id}`} leftSection={<KeyRoundIcon size={16} aria-hidden />}>
          {say('policies.makeKey')}
        </Button>
      )}
      {mayDelete && (
        <Button
          variant="default"
          c="red"
          leftSection={<Trash2Icon size={16} aria-hidden />}
          onClick={() => setAsked(true)}
        >
          {say('part.delete')}
        </Button>
      )}
      <ConfirmDelete
        name={asked ? policy.name || policy.id : undefined}
        depends={<PolicyDependents policy={policy} />}
        run={() => deletePolicy(policy.id)}
        onClose={() => setAsked(false)}
        onDone={() => {
          void navigate({ to: '/policies', replace: true })
          client.removeQueries({ queryKey: policyKey(policy.id) })
          void client.invalidateQueries({ queryKey: [...POLICIES_KEY, 'list'] })
        }}
      />
    </>
  )
}
