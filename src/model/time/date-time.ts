const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const DATE = /^\d{4}-\d\d-\d\d$/

/** True for a moment as RFC 3339 writes it. */
export function isDateTime(text: string): boolean {
  return DATE_TIME.test(text) && !Number.isNaN(Date.parse(text))
}

/** True for a day of the calendar, such as 2026-01-31. */
export function isDay(text: string): boolean {
  if (!DATE.test(text)) return false
  const time = Date.parse(text)
  // The last days of a month become the first ones of the next.
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** True where both name one moment: programs write what they have read with another zone, or without zeros at its end. */
export function isSameMoment(one: string | undefined, other: string | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && Date.parse(one) === Date.parse(other))
}
