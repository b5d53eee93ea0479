import { Alert, Anchor, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { InfoIcon, TriangleAlertIcon } from 'lucide-react'
import { type ApiView, purgeResponses } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { CERTIFICATES_KEY, listEveryCertificate } from '../../../api/platform/certificates.ts'
import { readSettings, SETTINGS_KEY } from '../../../api/platform/settings.ts'
import { notifyDone, notifyFault } from '../../../parts/display/notify.ts'
import type { Field, FormValues } from '../../../parts/forms/record-form.tsx'
import { say, type TextName } from '../../../texts/say.ts'
import { certificateName } from '../../certificates/names.ts'
import type { DefinitionEditor } from '../editor/use-definition-editor.tsx'
import { ENTRY_KINDS } from './entry-kinds.ts'
import { EntryList } from './entry-list.tsx'
import type { SettingPart } from './setting.ts'

interface Drawn {
  readonly api: ApiView
  readonly editor: DefinitionEditor
  readonly readOnly: boolean
}

/** A part of the form that is more than a field. */
export default function FormPiece({ part, ...given }: Drawn & Pick<SettingPart, 'part'>) {
  if (part === 'purge') return <Purge {...given} />
  if (part === 'shown') return <ShownCertificates {...given} />
  if (part === 'modules') return <Modules {...given} />
  if (part === 'handlers') return <Handlers {...given} />
  return <Entries {...given} part={part} />
}

function Entries({
  part,
  api,
  editor: { binding, flaws },
  aboutOf = ABOUT[part],
  ...rest
}: Drawn &
  Partial<Pick<Parameters<typeof EntryList>[0], 'drawn' | 'aboutOf'>> & { readonly part: keyof typeof ABOUT }) {
  const { definition, edit } = binding
  return <EntryList kind={ENTRY_KINDS[part]} {...{ definition, edit, flaws, aboutOf, ...rest }} isOas={api.isOas} />
}

const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? value : [])

/** The line below an entry's name in a list. */
const ABOUT = {
  checks: ({ checkStatuses, checkTimeout }: FormValues) =>
    say('apiSet.checkAbout', {
      statuses: listed(checkStatuses).join(', ') || '200–299',
      timeout: checkTimeout === '' ? 5 : Number(checkTimeout),
    }),
  shown: ({ shownId }: FormValues) => String(shownId),
  pins: ({ pinKeys }: FormValues) => listed(pinKeys).join(', '),
  handlers: ({ eventTo, eventMethod, eventUrl, eventPrefix }: FormValues) =>
    eventTo === 'webhook'
      ? `${eventMethod} ${eventUrl}`
      : [eventWord(eventTo), eventPrefix].filter((word) => word !== '').join(' · '),
  modules: ({ modulePhase }: FormValues) => say(`apiSet.modulePhase.${modulePhase}` as TextName),
} as const

const eventWord = (to: FormValues[string] | undefined) => (to === 'log' ? say('apiSet.eventTo.log') : String(to))

/** The certificates that may be shown are chosen by name by those who may see them. */
function ShownCertificates(props: Drawn) {
  const mayRead = useMay('certs')
  const { data } = useQuery({
    queryKey: [...CERTIFICATES_KEY, 'every'],
    queryFn: ({ signal }) => listEveryCertificate(signal),
    enabled: mayRead,
  })
  const choices = (data ?? [])
    .filter(({ has_private }) => has_private)
    .map((one) => ({ value: one.id, label: certificateName(one) }))
  const drawn = (field: Field): Field => {
    if (field.name !== 'shownId' || choices.length === 0) return field
    const { name, label, hint } = field
    return { ...{ name, label, hint }, kind: 'choice', required: true, choices }
  }
  const nameOf = ({ shownId }: FormValues) => choices.find(({ value }) => value === shownId)?.label ?? String(shownId)
  return <Entries {...props} part="shown" drawn={drawn} aboutOf={nameOf} />
}

/** Receivers of one's own; those of the organisation have a tab. */
function Handlers(props: Drawn) {
  return (
    <Stack gap="sm">
      <Entries {...props} part="handlers" />
      <Text size="sm" c="dimmed">
        {say('apiSet.handlersSigned')}{' '}
        <Anchor
          component={Link}
          to={`/apis/${encodeURIComponent(props.api.id)}` as '/'}
          search={{ tab: 'webhooks' } as never}
          size="sm"
          underline="always"
        >
          {say('apiSet.handlersTab')}
        </Anchor>
      </Text>
    </Stack>
  )
}

const FOLDER = 'gateway.modules.path'

/** Says whether the administrator has named a folder of modules, where the settings of this installation can be read. */
function Modules(props: Drawn) {
  const { data } = useQuery({
    queryKey: SETTINGS_KEY,
    queryFn: readSettings,
    staleTime: 60_000,
    enabled: useMay('system'),
  })
  const folder = data?.settings.find(({ path }) => path === FOLDER)
  const isClosed = folder !== undefined && (folder.value === '""' || folder.value === '')
  return (
    <Stack gap="sm">
      {isClosed ? (
        <Alert color="yellow" icon={<TriangleAlertIcon aria-hidden />} title={say('apiSet.modulesClosed')}>
          <Text size="sm">{say('apiSet.modulesOpen')}</Text>
          <Code block mt="xs" className="wrap-anywhere" style={{ whiteSpace: 'pre-wrap' }}>
            {`${folder.env}=/etc/gatehouse/modules`}
          </Code>
        </Alert>
      ) : (
        <Alert icon={<InfoIcon aria-hidden />} variant="light">
          {say('apiSet.modulesTrust')}
        </Alert>
      )}
      <Entries {...props} part="modules" />
    </Stack>
  )
}

/** Purges the cache on every gateway. */
function Purge({ api, readOnly }: Drawn) {
  const purging = useMutation({
    mutationFn: () => purgeResponses(api.id),
    onSuccess: () => notifyDone(say('apiSet.purged')),
    onError: notifyFault,
  })
  if (readOnly) return null
  return (
    <Group gap="sm">
      <Button variant="default" size="xs" loading={purging.isPending} onClick={() => purging.mutate()}>
        {say('apiSet.purge')}
      </Button>
      <Text size="xs" c="dimmed" flex={1} miw={200}>
        {say('apiSet.purgeHint')}
      </Text>
    </Group>
  )
}
