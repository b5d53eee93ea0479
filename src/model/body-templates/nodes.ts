import type { TemplateFunction } from './functions.ts'

/** The nodes of an expression. `at` is its position in the template. */
export type Expression =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  /** `from` is '.' or the name of a variable with its `$`; `$` alone is the whole body. */
  | { readonly kind: 'path'; readonly from: string; readonly names: readonly string[] }
  | { readonly kind: 'of'; readonly holder: Expression; readonly names: readonly string[] }
  | { readonly kind: 'call'; readonly run: TemplateFunction; readonly args: readonly Expression[]; readonly at: number }

export interface Branch {
  readonly test: Expression
  /** Variables that the test is kept in: of `range` perhaps two, the key first. */
  readonly names: readonly string[]
  readonly body: readonly TemplateNode[]
}

export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string; readonly endsInString: { outside: boolean; inside: boolean } }
  | { readonly kind: 'print'; readonly value: Expression }
  | { readonly kind: 'set'; readonly name: string; readonly declares: boolean; readonly value: Expression }
  | { readonly kind: 'if' | 'with'; readonly branches: readonly Branch[]; readonly otherwise: readonly TemplateNode[] }
  | { readonly kind: 'range'; readonly loop: Branch; readonly otherwise: readonly TemplateNode[] }
  | { readonly kind: 'break' | 'continue' }

/** The kind of text that a template gives, which says how values are escaped in it. */
export type TemplateOutput = 'json' | 'xml' | 'text'

/** A template that was read, ready to be rendered any number of times. */
export interface BodyTemplate {
  readonly nodes: readonly TemplateNode[]
  readonly output: TemplateOutput
  /** Names at the root by which it asks for the request or for metadata: `_svc_context`, `_acme_meta`. */
  readonly reserved: readonly string[]
  /** Names of request values that it asks for. */
  readonly contextNames: readonly string[]
  readonly source: string
}
