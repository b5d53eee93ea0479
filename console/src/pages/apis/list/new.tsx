import { Paper, SegmentedControl, Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { APIS_KEY, createApi } from '../../../api/apis/apis.ts'
import { useAddress } from '../../../app/address.ts'
import { PageHead } from '../../../parts/display/page-head.tsx'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { type FormValues, RecordForm } from '../../../parts/forms/record-form.tsx'
import { say, type TextName } from '../../../texts/say.ts'
import { pathOf } from './api-labels.ts'
import { freshDefinition, OFFERED } from './fresh.ts'
import { ImportNew } from './import-new.tsx'

const ABSENT = { from: 'scratch', source: 'file' } as const

/** Adds an API: by a few words, or from its OpenAPI document. */
export default function NewApi() {
  const [{ from }, setAddress] = useAddress<'from' | 'source'>(ABSENT)
  return (
    <>
      <PageHead title={say('shell.newApi')} hint={say('apis.newHint')} />
      <Guarded permission="apis" intent="write">
        <Stack maw={from === 'openapi' ? undefined : 720}>
          <SegmentedControl
            value={from}
            onChange={(next) => setAddress({ from: next, source: '' })}
            aria-label={say('apis.from')}
            w="fit-content"
            data={[
              { value: 'scratch', label: say('apis.fromScratch') },
              { value: 'openapi', label: say('apis.fromOpenapi') },
            ]}
          />
          {from === 'openapi' ? <ImportNew /> : <FromScratch />}
        </Stack>
      </Guarded>
    </>
  )
}

const AUTH = ['keyless', ...OFFERED.keys()]
const INITIAL = { name: '', path: '', upstream: '', auth: 'authToken' }

function FromScratch() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const submit = (values: FormValues) => {
    const name = String(values.name).trim()
    const path = String(values.path).trim() || pathOf(name)
    return createApi(
      freshDefinition({ name, path, upstream: String(values.upstream).trim(), auth: String(values.auth) }),
    )
  }
  return (
    <Paper withBorder p="lg">
      <RecordForm
        guarded
        initial={INITIAL}
        verb={say('shell.newApi')}
        done={say('apis.made')}
        submit={submit}
        onDone={(id) => {
          void client.invalidateQueries({ queryKey: APIS_KEY })
          void navigate({ to: `/apis/${encodeURIComponent(String(id))}` as '/' })
        }}
        onCancel={() => void navigate({ to: '/apis' as '/' })}
        fields={[
          { name: 'name', kind: 'text', required: true, label: say('apis.name'), hint: say('apis.nameHint') },
          {
            ...{ name: 'path', kind: 'text', label: say('apiSet.listenPath'), hint: say('apis.pathHint') },
            ...{
              placeholder: '/orders/',
              check: (value) => (/^\/\S*$/.test(String(value)) ? undefined : say('apis.pathWanted')),
            },
          },
          {
            ...{
              name: 'upstream',
              kind: 'url',
              required: true,
              label: say('apiSet.upstream'),
              hint: say('apis.upstreamHint'),
            },
            placeholder: 'https://orders.internal.example.com',
            check: (value) => (/^https?:\/\/\S+$/i.test(String(value)) ? undefined : say('apis.addressWanted')),
          },
          {
            ...{ name: 'auth', kind: 'choice', required: true, label: say('apis.authentication') },
            hint: say('apis.newAuthHint'),
            choices: AUTH.map((value) => ({ value, label: say(`apiAuth.new.${value}` as TextName) })),
          },
        ]}
      />
    </Paper>
  )
}
