import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Definition, DefinitionWarning, ImportPreview, Source } from '../../../api/apis/apis.ts'
import type { Mark } from '../../../parts/editors/editor-props.ts'
import { lineNamed, marksOf } from '../../../parts/editors/openapi-place.ts'
import { isJson, sourceFault } from '../openapi/openapi-source.tsx'

/** The result of an import, without running it. */
export interface Trial {
  readonly document: Definition | undefined
  readonly warnings: readonly DefinitionWarning[]
  readonly marks: readonly Mark[]
  readonly error: Error | null
  readonly isPending: boolean
}

const PAUSE_MS = 400
const numbers = new WeakMap<object, number>()
let last = 0

/** Names a source in a key, where five megabytes of text would be compared at every turn. */
function numberOf(source: Source): number {
  const known = numbers.get(source) ?? ++last
  numbers.set(source, known)
  return known
}

/** Asks the dashboard what would exist, and marks in the text what it refuses. `about` is all that the answer depends on besides. */
export function useTrial(
  source: Source | undefined,
  about: readonly unknown[],
  run: (source: Source, signal: AbortSignal) => Promise<ImportPreview>,
): Trial {
  const [settled] = useDebouncedValue(source, PAUSE_MS)
  const fault = useMemo(() => sourceFault(settled), [settled])
  const trial = useQuery({
    queryKey: ['trial', settled === undefined ? 0 : numberOf(settled), ...about],
    queryFn: ({ signal }) => run(settled!, signal),
    enabled: settled !== undefined && fault === undefined,
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const marks = useMemo(() => {
    if (fault !== undefined) return [fault]
    if (trial.error === null || settled === undefined || 'url' in settled) return []
    if (isJson(settled.text)) return marksOf(settled.text, trial.error.message)
    const line = lineNamed(trial.error.message)
    return line === undefined ? [] : [{ line, message: trial.error.message }]
  }, [fault, trial.error, settled])
  return {
    document: fault === undefined ? trial.data?.document : undefined,
    warnings: fault === undefined ? (trial.data?.warnings ?? []) : [],
    marks,
    error: fault === undefined ? trial.error : null,
    isPending: settled !== undefined && fault === undefined && trial.isFetching,
  }
}
