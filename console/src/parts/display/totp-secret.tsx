import { Anchor, Center, Skeleton, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { say } from '../../texts/say.ts'
import { CopyBlock } from './copy.tsx'

const QrCode = lazy(() => import('./qr-code.tsx'))

/** The secret of an authenticator app, to be scanned, opened or typed. */
export function TotpSecret(props: { readonly hint: string; readonly secret: string; readonly uri: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm">{props.hint}</Text>
      <Center>
        <Suspense fallback={<Skeleton w={220} h={220} />}>
          <QrCode text={props.uri} label={say('start.qrCode')} />
        </Suspense>
      </Center>
      <Text size="sm">
        {say('start.cannotScan')}{' '}
        <Anchor href={props.uri} underline="always" inherit>
          {say('start.openApp')}
        </Anchor>
      </Text>
      <CopyBlock value={props.secret} label={say('start.secret')} />
    </Stack>
  )
}
