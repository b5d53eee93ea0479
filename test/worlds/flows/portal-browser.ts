/** An answer as a browser would see it. */
export interface Seen {
  readonly status: number
  readonly url: string
  readonly text: string
  readonly headers: Headers
}

/** As much of a browser as pages without scripts need: a cookie jar, redirects, forms. */
export class FormBrowser {
  readonly base: string
  readonly cookies = new Map<string, string>()

  constructor(base: string) {
    this.base = base
  }

  /** Opens an address, or sends a form to it, and follows where it leads within the site. */
  async open(path: string, form?: Readonly<Record<string, string>>, more: Record<string, string> = {}): Promise<Seen> {
    let url = new URL(path, this.base)
    let body = form === undefined ? undefined : new URLSearchParams(form)
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ')
      const answer = await fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { ...(cookie !== '' && { cookie }), ...(body !== undefined && { origin: url.origin }), ...more },
        ...(body !== undefined && { body }),
      })
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        this.cookies.set(name, value)
      }
      const location = answer.headers.get('location')
      if (location === null || new URL(location, url).origin !== url.origin)
        return { status: answer.status, url: url.href, text: await answer.text(), headers: answer.headers }
      await answer.arrayBuffer()
      body = undefined
      url = new URL(location, url)
    }
    throw new Error('too many redirects')
  }

  /** Fills in the form of a page that goes to `action`, and sends it. */
  submit(page: Seen, action: string, fields: Readonly<Record<string, string>> = {}): Promise<Seen> {
    return this.open(action, { ...hiddenFields(page, action), ...fields })
  }
}

/** The hidden fields of the form of a page that posts to `action`. @throws Error when it does not exist */
export function hiddenFields({ text, url }: Seen, action: string): Record<string, string> {
  const forms = [...text.matchAll(/<form method="post" action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)]
  const found = forms.find(([, to]) => to === action)
  if (found === undefined) throw new Error(`${url} has no form for ${action}: ${forms.map(([, to]) => to).join(', ')}`)
  const hidden = found[2]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)
  return Object.fromEntries([...hidden].map(([, name, value]) => [name!, value!]))
}
