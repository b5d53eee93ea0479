import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import { LockIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { type Intent, useMay } from '../api/session.ts'
import { say } from '../texts/say.ts'
import { Empty } from './empty.tsx'

interface Right {
  readonly permission: string
  readonly intent?: Intent
}

/** A button that says, instead of working, which permission it would need. */
export function GuardedButton({
  permission,
  intent = 'write',
  reason,
  ...button
}: ButtonProps & Right & { readonly reason?: string; readonly onClick?: () => void; readonly children: ReactNode }) {
  const may = useMay(permission, intent)
  const refusal = may ? reason : say('part.needsPermission', { permission, intent })
  if (refusal === undefined) return <Button {...button} />
  return (
    <Tooltip label={refusal}>
      <Button {...button} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  )
}

/** A page, or part of one, for those who may; others are told what they lack. */
export function Guarded({ permission, intent = 'read', children }: Right & { readonly children: ReactNode }) {
  if (useMay(permission, intent)) return children
  return <Empty icon={LockIcon} title={say('part.noAccess')} hint={say('part.noAccessHint', { permission })} />
}
