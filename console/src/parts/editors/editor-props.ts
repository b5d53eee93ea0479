/** Something wrong in the text, by its place. Lines count from 1. */
export interface Mark {
  readonly line: number
  readonly message: string
}

export interface EditorProps {
  readonly label: string
  readonly value: string
  readonly language: 'json' | 'yaml'
  readonly onChange?: (value: string) => void
  readonly marks?: readonly Mark[]
  readonly isDark?: boolean
  readonly height?: string
}
