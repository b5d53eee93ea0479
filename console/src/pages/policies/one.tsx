import { Button, Paper, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { KeyRoundIcon, Trash2Icon } from 'lucide-react'
import { useState } from 'react'
import { deletePolicy, POLICIES_KEY, type Policy, readPolicy, savePolicy } from '../../api/policies.ts'
import { useMay } from '../../api/session.ts'
import { ConfirmDelete } from '../../parts/confirm-delete.tsx'
import { useGuardedSave } from '../../parts/conflict.tsx'
import { FaultBox } from '../../parts/fault-box.tsx'
import { Guarded } from '../../parts/guarded.tsx'
import { notifyDone } from '../../parts/notify.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { RecordForm } from '../../parts/record-form.tsx'
import { say } from '../../texts/say.ts'
import { policyFields } from './policy-fields.tsx'
import { policyOf, valuesOf } from './policy-values.ts'
import { Together } from './together.tsx'

/** One policy: what it gives, and what it comes to with others. */
export default function OnePolicy() {
  const { id = '' } = useParams({ strict: false })
  const policy = useQuery({ queryKey: [...POLICIES_KEY, id], queryFn: ({ signal }) => readPolicy(id, signal) })
  if (policy.error !== null) return <FaultBox error={policy.error} retry={() => void policy.refetch()} />
  if (policy.data === undefined) return <Skeleton h={400} />
  return (
    <Guarded permission="policies">
      <PageHead title={policy.data.name || policy.data.id} hint={policy.data.id}>
        <Actions policy={policy.data} />
      </PageHead>
      <Paper withBorder p="lg" maw={820}>
        <Form policy={policy.data} />
      </Paper>
      <Together policy={policy.data} />
    </Guarded>
  )
}

function Form({ policy }: { readonly policy: Policy }) {
  const client = useQueryClient()
  const may = useMay('policies', 'write')
  const { save, dialog } = useGuardedSave()
  const [loaded, setLoaded] = useState(policy)
  return (
    <>
      {dialog}
      <RecordForm
        key={JSON.stringify(loaded)}
        guarded
        readOnly={!may}
        fields={policyFields(!may)}
        initial={valuesOf(loaded)}
        done=""
        submit={async (values) => {
          const { outcome } = await save<Partial<Policy>>({
            loaded,
            mine: policyOf(values, loaded),
            read: () => readPolicy(policy.id),
            write: (edited) => savePolicy(policy.id, edited),
          })
          if (outcome === 'saved') notifyDone(say('part.saved'))
          return readPolicy(policy.id)
        }}
        onDone={async (stored) => {
          setLoaded(stored as Policy)
          await client.invalidateQueries({ queryKey: POLICIES_KEY })
        }}
      />
    </>
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
        <Button variant="default" leftSection={<Trash2Icon size={16} aria-hidden />} onClick={() => setAsked(true)}>
          {say('part.delete')}
        </Button>
      )}
      <ConfirmDelete
        name={asked ? policy.name || policy.id : undefined}
        depends={say('policies.deleteWhat')}
        run={() => deletePolicy(policy.id)}
        onClose={() => setAsked(false)}
        onDone={() => {
          void navigate({ to: '/policies' })
          void client.invalidateQueries({ queryKey: POLICIES_KEY })
        }}
      />
    </>
  )
}
