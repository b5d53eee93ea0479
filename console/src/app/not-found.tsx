import { Button } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { MapPinOffIcon } from 'lucide-react'
import { Empty } from '../parts/empty.tsx'
import { say } from '../texts/say.ts'

/** Stands at addresses without a page. */
export function NotFound() {
  const router = useRouter()
  return (
    <Empty icon={MapPinOffIcon} title={say('shell.notFound')} hint={say('shell.notFoundHint')}>
      <Button variant="light" onClick={() => router.history.back()}>
        {say('shell.back')}
      </Button>
    </Empty>
  )
}
