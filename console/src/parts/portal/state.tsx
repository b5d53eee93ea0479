import { Badge } from '@mantine/core'
import { say } from '../../texts/say.ts'

/** A state by its colour and its word; the word is on the page's background, for contrast. */
export function StateDot({ colour, text }: { readonly colour: string; readonly text: string }) {
  return (
    <Badge variant="dot" color={colour} size="sm" tt="none" fw={500} miw="max-content">
      {text}
    </Badge>
  )
}

/** Whether a developer is marked inactive. */
export function State({ isActive }: { readonly isActive: boolean }) {
  return <StateDot colour={isActive ? 'green' : 'gray'} text={say(isActive ? 'portal.active' : 'portal.inactive')} />
}
