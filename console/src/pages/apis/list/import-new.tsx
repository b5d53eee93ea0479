import { Button, Group, Loader, Paper, SimpleGrid, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  APIS_KEY,
  createApi,
  type Definition,
  type ImportPreview,
  type ImportTuning,
  importApi,
  previewImport,
  type Source,
} from '../../../api/apis/apis.ts'
import { FaultBox } from '../../../parts/display/fault-box.tsx'
import { notifyDone } from '../../../parts/display/notify.ts'
import { say } from '../../../texts/say.ts'
import { DefinitionWarnings } from '../editor/definition-warnings.tsx'
import { EXTENSION, isObject, textAt } from '../editor/tree.ts'
import { Preview } from '../openapi/import-preview.tsx'
import { isJson, OpenapiSource } from '../openapi/openapi-source.tsx'
import { useTrial } from '../tabs/use-trial.ts'
import { pathOf } from './api-labels.ts'

const PAUSE_MS = 400
const FLAGS = ['authentication', 'allowList', 'validateRequest', 'mockResponse'] as const

/** Makes an API of an OpenAPI document: shows first what will exist. */
export function ImportNew() {
  const [source, setSource] = useState<Source>()
  // A document that asks for a credential is open only where that is said.
  const [typed, setTyped] = useState<ImportTuning>({ authentication: 'false' })
  const [tuning] = useDebouncedValue(typed, PAUSE_MS)
  const trial = useTrial(source, [JSON.stringify(tuning)], (from, signal) => tried(from, tuning, signal))
  return (
    <Stack>
      <Paper withBorder p="lg">
        <Stack>
          <OpenapiSource onSource={setSource} marks={trial.marks} />
          <TuningFields typed={typed} onChange={setTyped} />
        </Stack>
      </Paper>
      {trial.isPending && <Loader role="status" aria-label={say('part.loading')} />}
      <FaultBox error={trial.error} />
      {trial.marks.map(({ line, message }) => (
        <Text key={`${line} ${message}`} size="sm" c="red" role="alert" className="wrap-anywhere">
          {say('apis.atLine', { line, message })}
        </Text>
      ))}
      {trial.document !== undefined && source !== undefined && (
        <>
          <DefinitionWarnings warnings={trial.warnings} />
          <Preview document={trial.document} />
          <Make source={source} document={trial.document} tuning={tuning} />
        </>
      )}
    </Stack>
  )
}

/** A document without a path gets one made of its title, so that two imports do not collide at `/`. */
async function tried(source: Source, tuning: ImportTuning, signal: AbortSignal): Promise<ImportPreview> {
  if (tuning.listenPath !== undefined || hasExtension(source)) return previewImport(source, tuning, signal)
  const title = jsonTitle(source) ?? (await titleOf(source, tuning, signal))
  return previewImport(source, { ...tuning, listenPath: pathOf(title) }, signal)
}

const hasExtension = (source: Source) => 'text' in source && source.text.includes(EXTENSION)

/** The title of a document that need not be sent to be read. */
function jsonTitle(source: Source): string | undefined {
  if (!('text' in source) || !isJson(source.text)) return undefined
  return textAt(JSON.parse(source.text), ['info', 'title'])
}

async function titleOf(source: Source, tuning: ImportTuning, signal: AbortSignal): Promise<string> {
  const found = await previewImport(source, { ...tuning, listenPath: `/trial-${Date.now()}/` }, signal)
  return textAt(found.document, ['info', 'title'])
}

function TuningFields({
  typed,
  onChange,
}: {
  readonly typed: ImportTuning
  readonly onChange: (tuning: ImportTuning) => void
}) {
  const set = (name: keyof ImportTuning, value: string) => {
    const { [name]: _old, ...others } = typed
    onChange(value === '' ? others : { ...others, [name]: value })
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextInput
        label={say('apiSet.listenPath')}
        description={say('apis.importPathHint')}
        value={typed.listenPath ?? ''}
        onChange={(event) => set('listenPath', event.currentTarget.value.trim())}
      />
      <TextInput
        type="url"
        label={say('apiSet.upstream')}
        description={say('apis.importUpstreamHint')}
        value={typed.upstreamURL ?? ''}
        onChange={(event) => set('upstreamURL', event.currentTarget.value.trim())}
      />
      {FLAGS.map((name) => (
        <Switch
          key={name}
          label={say(`apis.import.${name}`)}
          description={say(`apis.import.${name}Hint`)}
          checked={typed[name] === 'true'}
          onChange={(event) =>
            set(name, event.currentTarget.checked ? 'true' : name === 'authentication' ? 'false' : '')
          }
        />
      ))}
    </SimpleGrid>
  )
}

function Make(props: { readonly source: Source; readonly document: Definition; readonly tuning: ImportTuning }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const making = useMutation({
    mutationFn: () => makeOf(props.source, props.document, props.tuning),
    onSuccess: (id) => {
      notifyDone(say('apis.made'))
      void client.invalidateQueries({ queryKey: APIS_KEY })
      void navigate({ to: `/apis/${encodeURIComponent(id)}` as '/' })
    },
  })
  return (
    <Stack>
      <FaultBox error={making.error} />
      <Group justify="flex-end">
        <Button onClick={() => making.mutate()} loading={making.isPending}>
          {say('shell.newApi')}
        </Button>
      </Group>
    </Stack>
  )
}

/** The preview is created; a document with the extension is stored unchanged. */
function makeOf(source: Source, document: Definition, tuning: ImportTuning): Promise<string> {
  if (hasExtension(source)) return createApi(document)
  const shown = document[EXTENSION]
  const listenPath = isObject(shown) ? textAt(shown, ['server', 'listenPath', 'value']) : ''
  return importApi(source, { ...tuning, ...(listenPath !== '' && { listenPath }) })
}
