/** The value of a form field; no value is an empty text. */
export type FormValue = string | number | boolean | readonly string[]
export type FormValues = Record<string, FormValue>
