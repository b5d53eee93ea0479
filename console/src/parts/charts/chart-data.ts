/** A line or area of a chart: `name` is the member of its points. */
export interface ChartLine {
  readonly name: string
  readonly label: string
  readonly color: string
  readonly kind: 'line' | 'area'
  readonly isDashed?: boolean
}

/** A bucket of time and its numbers; a number that is not known is null. */
export type ChartPoint = { readonly at: number } & Readonly<Record<string, number | null>>
