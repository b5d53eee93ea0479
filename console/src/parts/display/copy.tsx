import { ActionIcon, Box, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from 'lucide-react'
import { say } from '../../texts/say.ts'

/** Copies a text. */
export function Copy({ value, label = say('part.copy') }: { readonly value: string; readonly label?: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? say('part.copied') : label}>
          <ActionIcon variant="subtle" onClick={copy} aria-label={label} color={copied ? 'teal' : 'gray'}>
            {copied ? <CheckIcon size={16} aria-hidden /> : <CopyIcon size={16} aria-hidden />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

/** An id or address in one line, to be copied. */
export function CopyText({ value }: { readonly value: string }) {
  return (
    <Group gap={4} wrap="nowrap" miw={0}>
      <Code className="wrap-anywhere">{value}</Code>
      <Copy value={value} />
    </Group>
  )
}

/** Some lines to be pasted somewhere, such as a command. */
export function CopyBlock({ value, label }: { readonly value: string; readonly label?: string }) {
  return (
    <Box pos="relative">
      <Code block pr={44} tabIndex={0} aria-label={label ?? value}>
        {value}
      </Code>
      <Box pos="absolute" top={4} right={4} className="over-code">
        <Copy value={value} {...(label !== undefined && { label: say('part.copyOf', { name: label }) })} />
      </Box>
    </Box>
  )
}
