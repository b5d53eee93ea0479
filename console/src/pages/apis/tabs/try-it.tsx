import { Alert, Card, Grid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { InfoIcon } from 'lucide-react'
import { useState } from 'react'
import { type ApiView, apiKey, readUrl } from '../../../api/apis/apis.ts'
import { type TryResult, type TrySent, tryRequest } from '../../../api/apis/try-it.ts'
import { useAddress } from '../../../app/address.ts'
import { Guarded } from '../../../parts/forms/guarded.tsx'
import { RecordForm } from '../../../parts/forms/record-form.tsx'
import { say } from '../../../texts/say.ts'
import { TryAnswer, TryNothing } from './try-it-answer.tsx'
import { tryFields } from './try-it-fields.tsx'
import { curlOf, pathAt, requestOf, secretOf, triedOperations } from './try-it-request.ts'
import { TrySteps } from './try-it-steps.tsx'

/** `view` is the operation that is tried. */
const ABSENT = { view: '' } as const

/** The sent request, and its result. */
interface Outcome {
  readonly sent: TrySent
  readonly secret: string
  readonly tried: TryResult
}

/** Sends a request to an API through the gateway, and shows what became of it. */
export default function TryItTab({ api }: { readonly api: ApiView }) {
  return (
    <Guarded permission="apis" intent="write">
      {!api.active && <Note text={say('try.inactive')} />}
      {api.internal ? <Note text={say('try.internal')} /> : <TryIt api={api} />}
    </Guarded>
  )
}

function Note({ text }: { readonly text: string }) {
  return (
    <Alert icon={<InfoIcon aria-hidden />} color="yellow" mb="md">
      {text}
    </Alert>
  )
}

function TryIt({ api }: { readonly api: ApiView }) {
  const [{ view }, set] = useAddress(ABSENT)
  const [outcome, setOutcome] = useState<Outcome>()
  const url = useQuery({ queryKey: [...apiKey(api.id), 'url'], queryFn: ({ signal }) => readUrl(api.id, signal) })
  const begun = triedOperations(api).find(({ key }) => key === view)
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, lg: 5 }}>
        <Card withBorder padding="lg" component="section">
          <Title order={2} size="h4">
            {say('try.request')}
          </Title>
          <Text size="sm" c="dimmed" mb="md">
            {say('try.hint')}
          </Text>
          <RecordForm
            fields={tryFields(api, (key) => set({ view: key }))}
            initial={{
              operation: begun?.key ?? '',
              method: begun?.method ?? 'GET',
              path: begun === undefined ? api.listenPath : pathAt(api, begun.path),
              credential: '',
              headers: [],
              body: '',
            }}
            verb={say('try.send')}
            done=""
            submit={async (values): Promise<Outcome> => {
              const sent = requestOf(api, values)
              return { sent, secret: secretOf(api, values), tried: await tryRequest(api.id, sent) }
            }}
            onDone={(answer) => setOutcome(answer as Outcome)}
          />
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 7 }}>
        {outcome === undefined ? (
          <TryNothing />
        ) : (
          <Stack gap="md" aria-live="polite">
            <TryAnswer tried={outcome.tried} curl={curlOf(originOf(url.data), outcome.sent, outcome.secret)} />
            <TrySteps tried={outcome.tried} />
          </Stack>
        )}
      </Grid.Col>
    </Grid>
  )
}

function originOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : window.location.origin
}
