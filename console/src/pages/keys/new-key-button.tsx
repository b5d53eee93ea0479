import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { PlusIcon } from 'lucide-react'
import { useMay } from '../../api/people/session.ts'
import { say } from '../../texts/say.ts'

/** Leads to a new key; with an API it begins with rights there. */
export function NewKey({ apiId = '' }: { readonly apiId?: string }) {
  if (!useMay('keys', 'write')) return null
  return (
    <Button
      component={Link}
      to="/keys/new"
      {...(apiId !== '' && { search: { api: apiId } as never })}
      leftSection={<PlusIcon size={16} aria-hidden />}
    >
      {say('keys.new')}
    </Button>
  )
}
