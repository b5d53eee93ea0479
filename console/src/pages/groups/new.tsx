import { Paper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { createGroup, GROUPS_KEY } from '../../api/people/groups.ts'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { RecordForm } from '../../parts/forms/record-form.tsx'
import { say } from '../../texts/say.ts'
import { groupFields, groupIn, groupValues } from './group-fields.tsx'

/** Adds a group. */
export default function NewGroup() {
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <>
      <PageHead title={say('groups.new')} />
      <Guarded permission="user_groups" intent="write">
        <Paper withBorder p="md" maw={900}>
          <RecordForm
            guarded
            fields={groupFields(false)}
            initial={groupValues(undefined)}
            verb={say('groups.new')}
            done={say('groups.made')}
            submit={(values) => createGroup(groupIn(values))}
            onDone={async (id) => {
              await client.invalidateQueries({ queryKey: GROUPS_KEY })
              await navigate({ to: `/groups/${String(id)}` })
            }}
            onCancel={() => void navigate({ to: '/groups' })}
          />
        </Paper>
      </Guarded>
    </>
  )
}
