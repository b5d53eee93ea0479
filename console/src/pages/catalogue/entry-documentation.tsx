import { Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { BookTextIcon, UploadIcon } from 'lucide-react'
import { useState } from 'react'
import {
  type CatalogueEntry,
  DOCUMENTATION_KEY,
  deleteDocumentation,
  fromBase64,
  readDocumentation,
} from '../../api/portal/catalogue.ts'
import { Empty } from '../../parts/display/empty.tsx'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { notifyDone } from '../../parts/display/notify.ts'
import { ConfirmAction } from '../../parts/forms/confirm-action.tsx'
import { GuardedButton } from '../../parts/forms/guarded.tsx'
import { say } from '../../texts/say.ts'
import { useCatalogueChange } from './catalogue-change.ts'
import { DocumentationUpload } from './documentation-upload.tsx'
import { DocumentationView } from './documentation-view.tsx'
import { withEntry } from './entries.ts'

interface Props {
  readonly id: string
  readonly entry: CatalogueEntry
}

/** The documentation of an entry: read, put another in its place, or take it away. */
export function EntryDocumentation({ id, entry }: Props) {
  const [asked, setAsked] = useState<'upload' | 'remove'>()
  const close = () => setAsked(undefined)
  if (asked === 'upload') return <DocumentationUpload id={id} entry={entry} onDone={close} onCancel={close} />
  if (entry.documentation === '')
    return (
      <Empty icon={BookTextIcon} title={say('portal.noDoc')} hint={say('portal.noDocHint')}>
        <Upload onClick={() => setAsked('upload')} verb={say('portal.addDoc')} />
      </Empty>
    )
  return (
    <Stack gap="md">
      <Group justify="flex-end" gap="xs">
        <Upload onClick={() => setAsked('upload')} verb={say('portal.replaceDoc')} />
        <GuardedButton permission="portal" variant="subtle" color="red" size="xs" onClick={() => setAsked('remove')}>
          {say('portal.remove')}
        </GuardedButton>
      </Group>
      <Stored documentation={entry.documentation} />
      <Remove id={id} entry={entry} opened={asked === 'remove'} onClose={close} />
    </Stack>
  )
}

function Upload({ verb, onClick }: { readonly verb: string; readonly onClick: () => void }) {
  return (
    <GuardedButton
      permission="portal"
      variant="default"
      size="xs"
      leftSection={<UploadIcon size={14} aria-hidden />}
      onClick={onClick}
    >
      {verb}
    </GuardedButton>
  )
}

function Stored({ documentation }: { readonly documentation: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: [...DOCUMENTATION_KEY, documentation],
    queryFn: ({ signal }) => readDocumentation(documentation, signal),
  })
  if (error !== null) return <FaultBox error={error} retry={refetch} />
  if (data === undefined) return <Skeleton h={200} />
  return <DocumentationView type={data.doc_type} text={fromBase64(data.documentation)} />
}

function Remove(props: Props & { readonly opened: boolean; readonly onClose: () => void }) {
  const { id, entry } = props
  const change = useCatalogueChange()
  return (
    <ConfirmAction
      opened={props.opened}
      title={say('portal.removeDoc')}
      verb={say('portal.remove')}
      isGrave
      run={async () => {
        await change((entries) => withEntry(entries, id, (stored) => ({ ...stored, documentation: '' })))
        await deleteDocumentation(entry.documentation)
      }}
      onDone={() => {
        props.onClose()
        notifyDone(say('portal.docRemoved'))
      }}
      onClose={props.onClose}
    >
      <Text size="sm">{say('portal.removeDocHint')}</Text>
    </ConfirmAction>
  )
}
