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
