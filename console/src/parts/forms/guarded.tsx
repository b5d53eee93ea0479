import { Button, type ButtonProps, Tooltip } from '@mantine/core'
import { LockIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { type Intent, useMay, useSession } from '../../api/people/session.ts'
import { say } from '../../texts/say.ts'
import { Empty } from '../display/empty.tsx'
import { PageHead } from '../display/page-head.tsx'

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
  const { unbounded } = useSession()
  const lack =
    unbounded && intent === 'write' ? say('part.onlyLooks') : say('part.needsPermission', { permission, intent })
  const refusal = may ? reason : lack
  if (refusal === undefined) return <Button {...button} />
  return (
    <Tooltip label={refusal}>
      <Button {...button} data-disabled aria-disabled onClick={(event) => event.preventDefault()} />
    </Tooltip>
  )
}

/** A page, or part of one, for users with the permission; others see what they lack. `title`: of a page without another one. */
export function Guarded({
  permission,
  intent = 'read',
  title,
  children,
}: Right & { readonly title?: string; readonly children: ReactNode }) {
  if (useMay(permission, intent)) return children
  return (
    <>
      {title !== undefined && <PageHead title={title} />}
      <Empty icon={LockIcon} title={say('part.noAccess')} hint={say('part.noAccessHint', { permission })} />
    </>
  )
}
