/** Ranges of one Accept field that are looked at: more have no honest sender. */
const MAX_RANGES = 50

/**
 * The media type that an Accept field likes best (RFC 9110 section 12.5.1), of equals the first; undefined when it takes none.
 * `types` are lower case and without parameters; '' is an answer without content, which everybody takes.
 */
export function preferredType(accept: string, types: readonly string[]): string | undefined {
  if (accept.trim() === '') return types[0]
  const ranges = accept.split(',', MAX_RANGES).map(rangeOf)
  let best: string | undefined
  let most = 0
  for (const type of types) {
    const quality = type === '' ? 1 : qualityOf(type, ranges)
    if (quality <= most) continue
    most = quality
    best = type
  }
  return best
}

interface Range {
  readonly type: string
  readonly quality: number
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return {
    type,
    quality: weight === undefined || !/^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? 1 : Number(weight),
  }
}

/** The most precise range decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const family = `${type.slice(0, type.indexOf('/'))}/*`
  const match =
    ranges.find((range) => range.type === type) ??
    ranges.find((range) => range.type === family) ??
    ranges.find((range) => range.type === '*/*')
  return match?.quality ?? 0
}
