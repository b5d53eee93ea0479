/** The word that allows this page its own style elements; the dashboard makes another for each page that it serves. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
}
