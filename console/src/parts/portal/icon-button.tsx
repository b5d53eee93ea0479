import { ActionIcon } from '@mantine/core'
import type { ReactNode } from 'react'

/** A small button beside a line of a form: its icon, and what it does for those who do not see it. */
export function IconButton(props: {
  readonly label: string
  readonly disabled?: boolean
  readonly run: () => void
  readonly children: ReactNode
}) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={props.label}
      disabled={props.disabled === true}
      {...(props.disabled && { bg: 'transparent' })}
      onClick={props.run}
    >
      {props.children}
    </ActionIcon>
  )
}
