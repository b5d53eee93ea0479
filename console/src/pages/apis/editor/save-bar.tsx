import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { Suspense } from 'react'
import type { ApiView } from '../../../api/apis/apis.ts'
import { FaultBox } from '../../../parts/display/fault-box.tsx'
import { LoadBoundary, lazyPart } from '../../../parts/display/lazy-part.tsx'
import { say } from '../../../texts/say.ts'
import type { DefinitionEditor } from './use-definition-editor.tsx'

/** Loaded with the first change. */
const ApiReview = lazyPart(() => import('./api-review.tsx'))

/** Stays in view while something is not saved. */
export function SaveBar({ api, editor }: { readonly api: ApiView; readonly editor: DefinitionEditor }) {
  const { isDirty, isSaving, error, marks, binding } = editor
  if (!isDirty && (error === null || error === undefined)) return null
  return (
    <Paper withBorder shadow="md" p="sm" pos="sticky" bottom={12} style={{ zIndex: 5 }}>
      <Stack gap="xs">
        <FaultBox error={error} />
        {isDirty && binding.fault === undefined && (
          <LoadBoundary>
            <Suspense>
              <ApiReview api={api} editor={editor} />
            </Suspense>
          </LoadBoundary>
        )}
        <Group justify="space-between">
          <Text size="sm" c="dimmed" aria-live="polite">
            {marks.length > 0
              ? say('apis.faultsAt', { lines: marks.map(({ line }) => line).join(', ') })
              : say('apis.unsaved')}
          </Text>
          <Group gap="xs">
            <Button variant="default" onClick={editor.discard} disabled={isSaving}>
              {say('apis.discard')}
            </Button>
            <Button onClick={editor.save} loading={isSaving} disabled={binding.fault !== undefined}>
              {say('part.save')}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Paper>
  )
}
