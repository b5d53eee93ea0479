/** A page as the browser has it. */
export interface Seen {
  readonly status: number
  readonly url: string
  readonly text: string
  readonly headers: Headers
}

/** As much of a browser as the pages need: cookies by port, redirects, forms. It notes every address it was sent to. */
export class Browser {
  readonly visited: string[] = []
  readonly #cookies = new Map<string, Map<string, string>>()

  async open(
    url: string,
    form?: Readonly<Record<string, string>>,
    headers: Record<string, string> = {},
  ): Promise<Seen> {
    let next = url
    let body = form === undefined ? undefined : new URLSearchParams(form)
    for (let hops = 0; hops < 10; hops++) {
      this.visited.push(next)
      const { origin } = new URL(next)
      const jar = this.#cookies.get(origin) ?? new Map<string, string>()
      this.#cookies.set(origin, jar)
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
      const answer = await fetch(next, {
        method: body === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { ...(cookie !== '' && { cookie }), ...(body !== undefined && { origin }), ...headers },
        ...(body !== undefined && { body }),
      })
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        jar.set(name, value)
      }
      const location = answer.headers.get('location')
      if (location === null)
        return { status: answer.status, url: next, text: await answer.text(), headers: answer.headers }
      if (answer.status === 303) body = undefined
      next = new URL(location, next).href
    }
    throw new Error('too many redirects')
  }

  cookies(url: string): ReadonlyMap<string, string> {
    return this.#cookies.get(new URL(url).origin) ?? new Map()
  }

  /** Fills in the first form of a page that has the field or button, and sends it. */
  submit(page: Seen, fields: Readonly<Record<string, string>>): Promise<Seen> {
    const forms = [...page.text.matchAll(/<form[^>]* action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/g)]
    const [, action = '', inner = ''] = forms[0] ?? []
    const hidden = [...inner.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
    const values = Object.fromEntries(hidden.map(([, name, value]) => [name, value]))
    return this.open(new URL(action, page.url).href, { ...values, ...fields })
  }
}
