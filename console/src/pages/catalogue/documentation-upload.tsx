import { Button, FileButton, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { FileUpIcon } from 'lucide-react'
import { useState } from 'react'
import {
  type CatalogueEntry,
  createDocumentation,
  DOCUMENTATION_KEY,
  deleteDocumentation,
} from '../../api/portal/catalogue.ts'
import { type Field, type FormValues, RecordForm } from '../../parts/forms/record-form.tsx'
import { checkWebAddress } from '../../parts/portal/checks.ts'
import { say } from '../../texts/say.ts'
import { useCatalogueChange } from './catalogue-change.ts'
import { DocumentationView } from './documentation-view.tsx'
import { withEntry } from './entries.ts'

const TYPES = [
  ['swagger', 'portal.docOpenApi'],
  ['swagger_custom_url', 'portal.docAddress'],
  ['graphql', 'portal.docGraphql'],
  ['blueprint', 'portal.docBlueprint'],
] as const
const ACCEPTED = '.json,.yaml,.yml,.graphql,.gql,.md,.apib,.txt'

/** Stores new documentation: from a file, pasted, or by its URL; with a preview below. */
export function DocumentationUpload(props: {
  readonly id: string
  readonly entry: CatalogueEntry
  readonly onDone: () => void
  readonly onCancel: () => void
}) {
  const { id, entry } = props
  const change = useCatalogueChange()
  const client = useQueryClient()
  const submit = async ({ type, text, address }: FormValues) => {
    const content = type === 'swagger_custom_url' ? address : text
    const documentation = await createDocumentation(entry.policy_id || entry.api_id, String(type), String(content))
    await change((entries) => withEntry(entries, id, (stored) => ({ ...stored, documentation })))
    // The one before is named by nothing any more; where it cannot be deleted, nothing is lost.
    if (entry.documentation !== '') await deleteDocumentation(entry.documentation).catch(() => undefined)
    client.removeQueries({ queryKey: [...DOCUMENTATION_KEY, entry.documentation] })
  }
  return (
    <RecordForm
      fields={FIELDS}
      initial={{ type: 'swagger', text: '', address: '' }}
      done={say('portal.docSaved')}
      guarded
      submit={submit}
      onDone={props.onDone}
      onCancel={props.onCancel}
    />
  )
}

const isAddress = (values: FormValues) => values.type === 'swagger_custom_url'

const FIELDS: readonly Field[] = [
  {
    kind: 'choice',
    name: 'type',
    label: say('portal.docType'),
    choices: TYPES.map(([value, text]) => ({ value, label: say(text) })),
  },
  {
    kind: 'url',
    name: 'address',
    label: say('portal.docAddress'),
    hint: say('portal.docAddressHint'),
    required: true,
    check: checkWebAddress,
    when: isAddress,
  },
  {
    kind: 'part',
    name: 'text',
    label: say('portal.docText'),
    required: true,
    when: (values) => !isAddress(values),
    draw: (form) => <Source form={form} />,
  },
]

function Source({ form }: { readonly form: Parameters<Extract<Field, { kind: 'part' }>['draw']>[0] }) {
  const [file, setFile] = useState('')
  const { value, onChange, error } = form.getInputProps('text')
  const take = async (chosen: File | null) => {
    if (chosen === null) return
    form.setFieldValue('text', await chosen.text())
    setFile(chosen.name)
  }
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <FileButton onChange={(chosen) => void take(chosen)} accept={ACCEPTED}>
          {(button) => (
            <Button variant="default" leftSection={<FileUpIcon size={16} aria-hidden />} {...button}>
              {say('portal.chooseFile')}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {file}
        </Text>
      </Group>
      <Textarea
        label={say('portal.docText')}
        description={say('portal.docTextHint')}
        value={value}
        onChange={onChange}
        error={error}
        withAsterisk
        autosize
        minRows={6}
        maxRows={14}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
      />
      {String(value).trim() !== '' && (
        <Paper withBorder p="sm">
          <Text size="xs" c="dimmed" mb="xs">
            {say('portal.preview')}
          </Text>
          <DocumentationView type={String(form.values.type)} text={String(value)} />
        </Paper>
      )}
    </Stack>
  )
}
