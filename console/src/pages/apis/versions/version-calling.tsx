import { Paper } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { APIS_KEY, type ApiView } from '../../../api/apis/apis.ts'
import { useMay } from '../../../api/people/session.ts'
import { type Field, type FormValues, type Heading, RecordForm } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { callingOf, useChangeVersions, withCalling } from './versioning.ts'

const LOCATIONS = ['header', 'url-param', 'url'] as const
const isInPath = ({ location }: FormValues) => location === 'url'

const FIELDS = (): readonly (Field | Heading)[] => [
  { heading: say('apis.calling') },
  {
    ...{ name: 'location', kind: 'choice', label: say('apis.calling.location') },
    hint: say('apis.calling.locationHint'),
    choices: LOCATIONS.map((value) => ({ value, label: say(`apis.calling.${value}`) })),
  },
  {
    ...{ name: 'key', kind: 'text', required: true, label: say('apis.calling.key'), hint: say('apis.calling.keyHint') },
    when: (all) => !isInPath(all),
  },
  { name: 'strip', kind: 'switch', label: say('apis.calling.strip'), hint: say('apis.calling.stripHint') },
  { name: 'fallback', kind: 'switch', label: say('apis.calling.fallback'), hint: say('apis.calling.fallbackHint') },
]

/** Where callers name the version that they want, and what becomes of those who name one that is not there. */
export function VersionCalling({ api }: { readonly api: ApiView }) {
  const client = useQueryClient()
  const change = useChangeVersions(api)
  const mayWrite = useMay('apis', 'write')
  const initial = callingOf(api)
  return (
    <Paper withBorder p="lg" maw={820}>
      <RecordForm
        key={JSON.stringify(initial)}
        guarded
        readOnly={!mayWrite}
        fields={FIELDS()}
        initial={initial}
        submit={(values) => change((definition) => withCalling(definition, api.isOas, values))}
        onDone={() => void client.invalidateQueries({ queryKey: APIS_KEY })}
      />
    </Paper>
  )
}
