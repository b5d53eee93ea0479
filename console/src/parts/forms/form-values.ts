/** What a field of a form holds; nothing is an empty text. */
export type FormValue = string | number | boolean | readonly string[]
export type FormValues = Record<string, FormValue>
