import { Alert, List } from '@mantine/core'
import { TriangleAlertIcon } from 'lucide-react'
import type { DefinitionWarning } from '../../../api/apis/apis.ts'
import { count } from '../../../parts/display/when.tsx'
import { say } from '../../../texts/say.ts'

const MOST_SHOWN_PX = 240

/** Lists what of a definition has no effect, or is not checked; nothing where there is nothing. */
export function DefinitionWarnings({ warnings }: { readonly warnings: readonly DefinitionWarning[] }) {
  if (warnings.length === 0) return null
  return (
    <Alert
      color="yellow"
      icon={<TriangleAlertIcon size={16} aria-hidden />}
      title={say('apis.warnings', { count: count(warnings.length) })}
    >
      <List size="sm" mah={MOST_SHOWN_PX} style={{ overflowY: 'auto' }} tabIndex={0} className="wrap-anywhere">
        {warnings.map(({ path, message }) => (
          <List.Item key={`${path} ${message}`}>
            {path}: {message}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
