import { Box, Skeleton, useComputedColorScheme } from '@mantine/core'
import { Suspense } from 'react'
import { LoadBoundary, lazyPart } from '../display/lazy-part.tsx'
import type { EditorProps } from './editor-props.ts'

const Editor = lazyPart(() => import('./code-mirror.tsx'))

/** An editor for JSON or YAML; what is wrong is marked at its line. Loaded when the first page needs it. */
export function CodeEditor(props: EditorProps) {
  const isDark = useComputedColorScheme('light') === 'dark'
  const height = props.height ?? '28rem'
  return (
    <Box
      style={{
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-md)',
        overflow: 'hidden',
      }}
    >
      <LoadBoundary>
        <Suspense fallback={<Skeleton h={height} />}>
          <Editor {...props} isDark={isDark} height={height} />
        </Suspense>
      </LoadBoundary>
    </Box>
  )
}
