import { ActionIcon, Menu } from '@mantine/core'
import { EllipsisIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useMay } from '../../api/people/session.ts'
import { say } from '../../texts/say.ts'

/** The actions on a row, for users who may write the portal. */
export function RowMenu({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (!useMay('portal', 'write')) return null
  return (
    <Menu position="bottom-end" withArrow>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={say('portal.actionsOf', { name })}>
          <EllipsisIcon size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}
