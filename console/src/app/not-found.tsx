import { Button } from '@mantine/core'
import { useCanGoBack, useRouter } from '@tanstack/react-router'
import { MapPinOffIcon } from 'lucide-react'
import { Empty } from '../parts/display/empty.tsx'
import { say } from '../texts/say.ts'

/** The page for unknown addresses. */
export function NotFound() {
  const router = useRouter()
  // A visitor of a wrong link came from another site, or from nowhere.
  const canGoBack = useCanGoBack()
  return (
    <main>
      <Empty icon={MapPinOffIcon} title={say('shell.notFound')} order={1} hint={say('shell.notFoundHint')}>
        <Button variant="light" onClick={() => (canGoBack ? router.history.back() : void router.navigate({ to: '/' }))}>
          {say('shell.back')}
        </Button>
      </Empty>
    </main>
  )
}
