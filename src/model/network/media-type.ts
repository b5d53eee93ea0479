/** Parameters that say how a body is written, not what it is. */
const OF_WRITING = new Set(['charset', 'boundary', 'q'])

/** A media type in lower case without its parameters. */
export function bareMediaType(text: string): string {
  return (text.split(';')[0] ?? '').trim().toLowerCase()
}

/** A media type with those of its parameters that tell it from others (`application/json;version=1`), in order of their names. */
export function mediaTypeKey(text: string): string {
  const parameters = text
    .split(';')
    .slice(1)
    .map((each) => parameterKey(each.trim().toLowerCase().replaceAll('"', '')))
    .filter((each) => each !== '' && !OF_WRITING.has(each.split('=', 1)[0]!))
  return [bareMediaType(text), ...parameters.sort()].join(';')
}

/** A parameter without white space around its first `=`. No expression: it would look at a long run of spaces from each of them on. */
function parameterKey(text: string): string {
  const at = text.indexOf('=')
  return at < 0 ? text : `${text.slice(0, at).trimEnd()}=${text.slice(at + 1).trimStart()}`
}

/**
 * The pairs of a query or a form. The platform's reader searches the whole rest for a `=` at each pair that has none: eleven seconds
 * for a megabyte of `a&`, so each is given one.
 */
export function searchParams(text: string): URLSearchParams {
  const pairs = text.split('&').map((pair) => (pair === '' || pair.includes('=') ? pair : `${pair}=`))
  return new URLSearchParams(pairs.join('&'))
}

/** True for the media types of HTML forms, in lower case and without parameters. */
export function isFormType(type: string): boolean {
  return type === 'application/x-www-form-urlencoded' || type === 'multipart/form-data'
}
