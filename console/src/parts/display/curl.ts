/** The parts of a call that a command shows. */
export interface CalledApi {
  readonly url: string
  /** Field that its key goes into; undefined = needs none, or not a key. */
  readonly keyField: string | undefined
}

/** Calls an API through the gateway, with its key where it asks for one. */
export function callCommand({ url, keyField }: CalledApi, key: string): string {
  if (keyField === undefined) return `curl -i ${quoted(url)}`
  return `curl -i -H ${quoted(`${keyField}: ${key}`)} \\\n  ${quoted(url)}`
}

/** One word for a shell, with any content. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
