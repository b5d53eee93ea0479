import { Paper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createPolicy, POLICIES_KEY } from '../../api/access/policies.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { policyFields } from './policy-fields.tsx'
import { policyOf, valuesOf } from './policy-values.ts'

/** A new policy. */
export default function NewPolicy() {
  const navigate = useNavigate()
  const client = useQueryClient()
  return (
    <Guarded permission="policies" intent="write">
      <PageHead title={say('policies.newTitle')} hint={say('policies.hint')} />
      <Paper withBorder p="lg" maw={820}>
        <RecordForm
          guarded
          fields={policyFields(false)}
          initial={valuesOf({})}
          verb={say('part.create')}
          submit={(values) => createPolicy(policyOf(values, {}))}
          onDone={(id) => {
            void client.invalidateQueries({ queryKey: POLICIES_KEY })
            void navigate({ to: `/policies/${encodeURIComponent(String(id))}` })
          }}
          onCancel={() => void navigate({ to: '/policies' })}
        />
      </Paper>
    </Guarded>
  )
}
