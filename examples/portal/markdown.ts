import MarkdownIt from 'markdown-it'
import { Html } from './html.ts'

const LAST_HEADING = 6

// HTML in a text is shown as it is written. Links of other kinds than http, https and mailto stay text; pictures would be loaded
// from anywhere, so they are left out.
const parser = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable('image')
parser.validateLink = (url) => /^(?:https?:|mailto:|\/(?![/\\])|#)/i.test(url.trim())

// Headings of a text are one level below the page's heading before them, and skip no level.
parser.core.ruler.push('headings', ({ tokens, env }) => {
  const above: number[] = []
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const written = Number(token.tag.slice(1))
    while (above.length > 0 && above.at(-1)! >= written) above.pop()
    above.push(written)
    const level = (env as { readonly below: number }).below + above.length
    token.tag = `h${Math.min(LAST_HEADING, level)}`
    // heading_open, inline, heading_close
    tokens[at + 2]!.tag = token.tag
  }
})
parser.renderer.rules.link_open = (tokens, at, options, _env, self) => {
  tokens[at]!.attrSet('rel', 'noopener noreferrer nofollow')
  return self.renderToken(tokens, at, options)
}
// The policy of our pages blocks `style` attributes.
for (const name of ['th_open', 'td_open'] as const)
  parser.renderer.rules[name] = (tokens, at, options, _env, self) => {
    tokens[at]!.attrs = null
    return self.renderToken(tokens, at, options)
  }
// Wide tables and code scroll by themselves, and with the keyboard.
parser.renderer.rules.table_open = () => '<div class="scroll" tabindex="0"><table>'
parser.renderer.rules.table_close = () => '</table></div>'
for (const name of ['fence', 'code_block'] as const)
  parser.renderer.rules[name] = (tokens, at) =>
    `<pre tabindex="0"><code>${parser.utils.escapeHtml(tokens[at]!.content)}</code></pre>`

/** Markdown of any author as HTML that is safe in a page. `below`: level of the heading that it follows. */
export function markdown(text: string, below: number): Html {
  return new Html(`<div class="prose">${parser.render(text, { below })}</div>`)
}
