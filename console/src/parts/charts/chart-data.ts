/** A line or area of a chart: `name` is the member of its points. */
export interface ChartLine {
  readonly name: string
  readonly label: string
  readonly color: string
  readonly kind: 'line' | 'area'
  /** Lengths of dashes and gaps in pixels, so that lines differ by more than colour; absent = solid. */
  readonly dash?: string
}

/** A bucket of time and its numbers; a number that is not known is null. */
export type ChartPoint = { readonly at: number } & Readonly<Record<string, number | null>>
