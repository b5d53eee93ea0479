import { Anchor, Breadcrumbs, Button, Group, Loader, Paper, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import {
  APIS_KEY,
  type ApiView,
  apiKey,
  type ImportTuning,
  previewReimport,
  readApi,
  reimport,
  type Source,
} from '../../../api/apis/apis.ts'
import { FaultBox } from '../../../parts/display/fault-box.tsx'
import { notifyDone } from '../../../parts/display/notify.ts'
import { PageHead } from '../../../parts/display/page-head.tsx'
import { useGuardedSave } from '../../../parts/forms/conflict.tsx'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { NotReadable } from '../../../parts/tables/not-readable.tsx'
import { say } from '../../../texts/say.ts'
import { DefinitionWarnings } from '../editor/definition-warnings.tsx'
import { at } from '../editor/tree.ts'
import { useTrial } from '../tabs/use-trial.ts'
import { Changes } from './import-preview.tsx'
import { operationsOf } from './openapi-operations.ts'
import { OpenapiSource } from './openapi-source.tsx'

/** Puts a newer OpenAPI document over an API: shows first what changes. */
export default function ImportOver() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  return (
    <Guarded permission="apis" intent="write" title={say('shell.apis')}>
      <Loaded key={id} id={id} />
    </Guarded>
  )
}

function Loaded({ id }: { readonly id: string }) {
  const api = useQuery({ queryKey: apiKey(id), queryFn: ({ signal }) => readApi(id, signal) })
  // A later try that fails leaves what is there: a document may have been chosen.
  if (api.data === undefined)
    return api.error === null ? (
      <Loader role="status" aria-label={say('part.loading')} />
    ) : (
      <NotReadable error={api.error} retry={api.refetch} title={say('apis.gone')} to="/apis" />
    )
  const to = `/apis/${encodeURIComponent(id)}` as '/'
  return (
    <>
      <Breadcrumbs mb={4}>
        <Anchor component={Link} to="/apis" size="sm">
          {say('shell.apis')}
        </Anchor>
        <Anchor component={Link} to={to} size="sm" className="wrap-anywhere">
          {api.data.name}
        </Anchor>
      </Breadcrumbs>
      <PageHead title={say('apis.reimportTitle', { name: api.data.name })} hint={say('apis.reimportHint')} />
      <Over api={api.data} to={to} />
    </>
  )
}

function Over({ api, to }: { readonly api: ApiView; readonly to: '/' }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [source, setSource] = useState<Source>()
  const { save, dialog } = useGuardedSave()
  const listed = useMemo(() => allowedOf(api), [api])
  // The API may still be read again behind what is shown: until it is chosen, the switch follows what is stored.
  const [chosen, setOpened] = useState<boolean>()
  const isOpened = chosen ?? listed === 'all'
  const tuning: ImportTuning = isOpened ? { allowList: 'true' } : {}
  const trial = useTrial(source, [api.id, api.updatedAt, isOpened], (from, signal) =>
    previewReimport(api.id, from, tuning, signal),
  )
  const putting = useMutation({
    mutationFn: () =>
      save({
        loaded: api.definition,
        mine: trial.document!,
        read: async () => (await readApi(api.id)).definition,
        write: () => reimport(api.id, source!, tuning),
      }),
    onSuccess: ({ outcome }) => {
      void client.invalidateQueries({ queryKey: APIS_KEY })
      if (outcome === 'saved') notifyDone(say('apis.imported'))
      void navigate({ to })
    },
  })
  return (
    <Stack>
      {dialog}
      <Paper withBorder p="lg">
        <OpenapiSource onSource={setSource} marks={trial.marks} />
        {listed !== 'none' && (
          <Switch
            mt="md"
            label={say('apis.import.allowNew')}
            description={say('apis.import.allowNewHint')}
            checked={isOpened}
            onChange={({ currentTarget }) => setOpened(currentTarget.checked)}
          />
        )}
      </Paper>
      {trial.isPending && <Loader role="status" aria-label={say('part.loading')} />}
      <FaultBox error={trial.error ?? putting.error} />
      {trial.marks.map(({ line, message }) => (
        <Text key={`${line} ${message}`} size="sm" c="red" role="alert" className="wrap-anywhere">
          {say('apis.atLine', { line, message })}
        </Text>
      ))}
      {trial.document !== undefined && (
        <>
          <DefinitionWarnings warnings={trial.warnings} />
          <Changes before={api.definition} after={trial.document} />
          <Group justify="flex-end">
            <Button variant="default" component={Link} to={to}>
              {say('part.cancel')}
            </Button>
            <Button onClick={() => putting.mutate()} loading={putting.isPending}>
              {say('apis.putOver')}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  )
}

/** Which of its operations are let in by name: with one of them all others are refused. */
function allowedOf({ definition }: ApiView): 'none' | 'some' | 'all' {
  const operations = operationsOf(definition)
  const allowed = operations.filter(({ settings }) => at(settings, ['allow', 'enabled']) === true)
  if (allowed.length === 0) return 'none'
  return allowed.length === operations.length ? 'all' : 'some'
}
