import { Anchor, Code, Text, Typography } from '@mantine/core'
import Markdown, { type Components } from 'react-markdown'
import { say } from '../../texts/say.ts'

/** Headings rank below those of the page; images of other hosts are only named, as the page loads nothing from there. */
const PARTS: Components = {
  h1: ({ children }) => <Heading size="lg">{children}</Heading>,
  h2: ({ children }) => <Heading size="md">{children}</Heading>,
  h3: ({ children }) => <Heading size="sm">{children}</Heading>,
  h4: ({ children }) => <Heading size="sm">{children}</Heading>,
  h5: ({ children }) => <Heading size="sm">{children}</Heading>,
  h6: ({ children }) => <Heading size="sm">{children}</Heading>,
  a: ({ children, href }) => (
    <Anchor href={href} target="_blank" rel="noopener noreferrer" underline="always" inherit>
      {children}
    </Anchor>
  ),
  img: ({ alt }) => <Code>{say('portal.picture', { name: alt ?? '' })}</Code>,
}

/** Markdown as the portal shows it. HTML in it stays text. */
export function RenderedMarkdown({ text }: { readonly text: string }) {
  return (
    <Typography fz="sm" className="wrap-anywhere" dir="auto" p={0}>
      <Markdown components={PARTS}>{text}</Markdown>
    </Typography>
  )
}

function Heading(props: { readonly size: string; readonly children: React.ReactNode }) {
  return (
    <Text fw={650} size={props.size} mt="sm" mb={4} component="div">
      {props.children}
    </Text>
  )
}
