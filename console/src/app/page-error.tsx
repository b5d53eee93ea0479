import { Container } from '@mantine/core'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { FaultBox } from '../parts/display/fault-box.tsx'

/** Replaces a page that failed to render. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Container component="main" py="xl">
      <FaultBox error={error} retry={reset} />
    </Container>
  )
}
