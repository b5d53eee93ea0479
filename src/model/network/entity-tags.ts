/** True when `If-Match` lists this strong tag, or is `*` (RFC 9110 section 13.1.1). Weak tags never match. */
export function matchesStrongly(ifMatch: string, tag: string): boolean {
  return listed(ifMatch).some((one) => one === '*' || one === tag)
}

/** True when `If-None-Match` lists this tag, weak or strong, or is `*` (RFC 9110 section 13.1.2). */
export function matchesWeakly(ifNoneMatch: string, tag: string): boolean {
  return listed(ifNoneMatch).some((one) => one === '*' || one.replace(/^W\//, '') === tag)
}

/** Our own tags hold no commas. */
const listed = (field: string) => field.split(',').map((one) => one.trim())
