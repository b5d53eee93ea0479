import type { ReactNode } from 'react'
import type { FormValue, FormValues } from './form-values.ts'

/** The common properties of form fields. */
export interface FieldPart {
  readonly name: string
  readonly label: string
  readonly hint?: ReactNode
  readonly required?: boolean
  readonly disabled?: boolean
  readonly placeholder?: string
  /** The error of a value; undefined = none. */
  readonly check?: (value: FormValue, all: FormValues) => string | undefined
  /** False leaves the field out, for what the others say. */
  readonly when?: (all: FormValues) => boolean
}

export interface Choice {
  readonly value: string
  readonly label: string
}

/** A field of a form that the form itself draws: what it is called, and what kind of thing is entered. */
export type PlainField = FieldPart &
  (
    | { readonly kind: 'text' | 'email' | 'url' | 'password' | 'date'; readonly autoComplete?: string }
    | { readonly kind: 'area'; readonly rows?: number; readonly isCode?: boolean }
    | { readonly kind: 'number'; readonly min?: number; readonly max?: number; readonly unit?: string }
    | { readonly kind: 'switch' }
    | { readonly kind: 'json' }
    | {
        readonly kind: 'list'
        readonly suggestions?: readonly string[]
        /** Entries may hold commas, which else end one. */
        readonly isWhole?: boolean
      }
    | { readonly kind: 'choice' | 'choices'; readonly choices: readonly Choice[]; readonly clearable?: boolean }
  )

/** The heading above some fields; `when` hides it with them. */
export interface Heading {
  readonly heading: string
  readonly hint?: string
  /** The fields up to the next heading are a part of the page by this name: others are called the same. */
  readonly isPart?: boolean
  readonly when?: (all: FormValues) => boolean
}
