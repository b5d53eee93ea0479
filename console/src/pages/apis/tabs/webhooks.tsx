import { ActionIcon, Anchor, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { WebhookIcon, XIcon } from 'lucide-react'
import { type ApiView, apiKey } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { EVENT_NAMES, isTokenEvent } from '../../../api/platform/api-events.ts'
import {
  changeHookReferences,
  everyWebhook,
  type HookReference,
  readHookReferences,
  WEBHOOKS_KEY,
  type Webhook,
} from '../../../api/platform/webhooks.ts'
import { Empty } from '../../../parts/display/empty.tsx'
import { notifyDone, notifyFault } from '../../../parts/display/notify.ts'
import { RecordForm } from '../../../parts/forms/record-form.tsx'
import { type Column, DataTable } from '../../../parts/tables/data-table.tsx'
import { say } from '../../../texts/say.ts'

const EVENTS = EVENT_NAMES.filter((name) => !isTokenEvent(name))

/** The webhooks for events of an API, its traffic, and its keys. */
export default function WebhooksTab({ api }: { readonly api: ApiView }) {
  const mayWrite = useMay('apis', 'write')
  const mayReadHooks = useMay('hooks')
  const key = [...apiKey(api.id), 'webhooks']
  const references = useQuery({ queryKey: key, queryFn: ({ signal }) => readHookReferences(api.id, signal) })
  const hooks = useQuery({
    queryKey: [...WEBHOOKS_KEY, 'every'],
    queryFn: ({ signal }) => everyWebhook(signal),
    enabled: mayReadHooks,
  })
  const client = useQueryClient()
  const changed = () => client.invalidateQueries({ queryKey: key })
  return (
    <Stack maw={820}>
      <Text size="sm" c="dimmed">
        {say('apiHooks.hint')}{' '}
        {mayReadHooks && (
          <Anchor component={Link} to="/webhooks" size="sm" underline="always">
            {say('apiHooks.all')}
          </Anchor>
        )}
      </Text>
      <DataTable
        label={say('apiHooks.title')}
        columns={columnsOf(api, hooks.data, mayWrite, changed)}
        rows={references.data}
        rowKey={(reference) => JSON.stringify(reference)}
        error={references.error}
        retry={() => void references.refetch()}
        empty={<Empty icon={WebhookIcon} title={say('apiHooks.none')} hint={say('apiHooks.noneHint')} />}
      />
      {mayWrite && hooks.data !== undefined && hooks.data.length > 0 && (
        <Tell api={api} hooks={hooks.data} onDone={changed} />
      )}
    </Stack>
  )
}

function columnsOf(
  api: ApiView,
  hooks: readonly Webhook[] | undefined,
  mayWrite: boolean,
  onDone: () => Promise<void>,
): readonly Column<HookReference>[] {
  return [
    { name: 'event', title: say('apiHooks.event'), cell: ({ event_name }) => eventText(event_name) },
    {
      name: 'webhook',
      title: say('apiHooks.webhook'),
      cell: ({ hook }) => {
        const found = hooks?.find(({ id, name }) => (hook.id ? id === hook.id : name === hook.name))
        if (found === undefined) return hook.name || hook.id
        return (
          <Anchor component={Link} to={`/webhooks/${found.id}`} size="sm" dir="auto">
            {found.name || found.target_path}
          </Anchor>
        )
      },
    },
    ...(mayWrite
      ? [
          {
            ...{ name: 'actions', title: say('part.actions'), width: 90 },
            cell: (reference: HookReference) => <Stop {...{ api, hooks, reference, onDone }} />,
          },
        ]
      : []),
  ]
}

/** Events that only the API of the dashboard can name are shown unchanged. */
function eventText(name: string): string {
  const known = EVENTS.find((each) => each === name)
  return known === undefined ? name : say(`apiHooks.event.${known}`)
}

function Stop(props: {
  readonly api: ApiView
  readonly hooks: readonly Webhook[] | undefined
  readonly reference: HookReference
  readonly onDone: () => Promise<void>
}) {
  const { hook } = props.reference
  const gone = JSON.stringify(props.reference)
  const stopping = useMutation({
    mutationFn: () =>
      changeHookReferences(props.api.id, (before) => before.filter((each) => JSON.stringify(each) !== gone)),
    onSuccess: () => {
      notifyDone(say('apiHooks.detached'))
      return props.onDone()
    },
    onError: notifyFault,
  })
  const name = props.hooks?.find(({ id }) => id === hook.id)?.name || hook.name || hook.id || ''
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      loading={stopping.isPending}
      onClick={() => stopping.mutate()}
      aria-label={say('apiHooks.detach', { name })}
    >
      <XIcon size={16} aria-hidden />
    </ActionIcon>
  )
}

function Tell(props: {
  readonly api: ApiView
  readonly hooks: readonly Webhook[]
  readonly onDone: () => Promise<void>
}) {
  const { api, hooks } = props
  return (
    <Paper withBorder p="lg">
      <Text fw={650} mb="sm">
        {say('apiHooks.add')}
      </Text>
      <RecordForm
        fields={[
          {
            ...{ name: 'event', kind: 'choice', required: true, label: say('apiHooks.event') },
            choices: EVENTS.map((value) => ({ value, label: say(`apiHooks.event.${value}`) })),
          },
          {
            ...{ name: 'hook', kind: 'choice', required: true, label: say('apiHooks.webhook') },
            choices: hooks.map(({ id, name, target_path: target }) => ({ value: id, label: name || target })),
          },
        ]}
        initial={{ event: 'api_event', hook: '' }}
        verb={say('apiHooks.attach')}
        done={say('apiHooks.attached')}
        submit={({ event, hook: id }) => {
          const added = { event_name: String(event), event_timeout: 0, hook: { id: String(id) } }
          const isSame = (each: HookReference) => each.event_name === added.event_name && each.hook.id === added.hook.id
          return changeHookReferences(api.id, (before) => [...before.filter((each) => !isSame(each)), added])
        }}
        onDone={() => void props.onDone()}
      />
    </Paper>
  )
}
