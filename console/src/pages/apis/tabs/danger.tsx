import { Button, Checkbox, Group, List, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { APIS_KEY, type ApiView, apiKey, deleteApi, migrateApi } from '../../../api/apis/apis.ts'
import { notifyDone, notifyFault } from '../../../parts/display/notify.ts'
import { count } from '../../../parts/display/when.tsx'
import { ConfirmDelete } from '../../../parts/forms/confirm-delete.tsx'
import { GuardedButton } from '../../../parts/forms/guarded.tsx'
import { say, type TextName } from '../../../texts/say.ts'
import { readDependents } from '../editor/dependents.ts'
import { setActive } from '../editor/set-active.ts'

/** Actions that cannot be undone, or stop callers at once. */
export default function DangerTab({ api }: { readonly api: ApiView }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [isAsked, setAsked] = useState(false)
  const act = useMutation({
    mutationFn: (work: () => Promise<unknown>) => work(),
    onSuccess: () => {
      notifyDone(say('part.saved'))
      void client.invalidateQueries({ queryKey: APIS_KEY })
    },
    onError: notifyFault,
  })
  return (
    <Stack maw={820}>
      <Act
        name={api.active ? 'inactivate' : 'activate'}
        onClick={() => act.mutate(() => setActive(api, !api.active))}
        isPending={act.isPending}
      />
      {!api.isOas && <Act name="migrate" onClick={() => act.mutate(() => migrate(api.id))} isPending={act.isPending} />}
      <Act name="delete" color="red" onClick={() => setAsked(true)} isPending={false} />
      {isAsked && (
        <DeleteApi
          api={api}
          onClose={() => setAsked(false)}
          onDone={() => {
            client.removeQueries({ queryKey: apiKey(api.id) })
            void client.invalidateQueries({ queryKey: APIS_KEY })
            void navigate({ to: '/apis' as '/', replace: true })
          }}
        />
      )}
    </Stack>
  )
}

function Act(props: {
  readonly name: 'activate' | 'inactivate' | 'migrate' | 'delete'
  readonly color?: string
  readonly isPending: boolean
  readonly onClick: () => void
}) {
  return (
    <Paper withBorder p="lg">
      <Group justify="space-between" align="center">
        <Stack gap={2} flex="1 1 20rem">
          <Text fw={650}>{say(`apis.${props.name}` as TextName)}</Text>
          <Text size="sm" c="dimmed">
            {say(`apis.${props.name}Hint` as TextName)}
          </Text>
        </Stack>
        <GuardedButton
          permission="apis"
          variant={props.color === undefined ? 'default' : 'filled'}
          {...(props.color !== undefined && { color: props.color })}
          loading={props.isPending}
          onClick={props.onClick}
        >
          {say(`apis.${props.name}` as TextName)}
        </GuardedButton>
      </Group>
    </Paper>
  )
}

async function migrate(id: string): Promise<void> {
  const [done] = (await migrateApi(id)).apis
  if (done?.status !== 'success') throw new Error(done?.reason ?? say('apis.migrateFailed'))
}

function DeleteApi(props: { readonly api: ApiView; readonly onDone: () => void; readonly onClose: () => void }) {
  const { api } = props
  const [purge, setPurge] = useState(false)
  const dependents = useQuery({
    queryKey: [...apiKey(api.id), 'dependents'],
    queryFn: ({ signal }) => readDependents(api, signal),
  })
  const versions = dependents.data?.find(({ kind }) => kind === 'versions')?.number ?? 0
  const depends = (
    <Stack gap="xs">
      <span>{say('apis.deleteWhat')}</span>
      <List size="sm">
        {(dependents.data ?? []).map(({ kind, number, names }) => (
          <List.Item key={kind} className="wrap-anywhere">
            {say(`apis.dependent.${kind}`, { count: count(number), names: names.join(', ') })}
          </List.Item>
        ))}
      </List>
      {dependents.isPending && <Button variant="transparent" loading aria-label={say('part.loading')} />}
      {versions > 0 && (
        <Checkbox
          label={say('apis.purge')}
          checked={purge}
          onChange={(event) => setPurge(event.currentTarget.checked)}
        />
      )}
    </Stack>
  )
  return (
    <ConfirmDelete
      name={api.name}
      depends={depends}
      run={() => deleteApi(api.id, purge)}
      onDone={props.onDone}
      onClose={props.onClose}
    />
  )
}
