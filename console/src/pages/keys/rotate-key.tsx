import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { KEYS_KEY, type KeyDetails, type KeyMade, rotateKey } from '../../api/access/keys.ts'
import { fullTime } from '../../parts/display/when.tsx'
import { OverlapDialog } from '../../parts/forms/overlap-dialog.tsx'
import { say } from '../../texts/say.ts'
import { KeyOnce } from './key-once.tsx'

/** Replaces a key by a new one, and shows it once. */
export function RotateKey(props: {
  readonly details: KeyDetails
  readonly opened: boolean
  readonly onClose: () => void
}) {
  const { details, opened, onClose } = props
  const [made, setMade] = useState<KeyMade & { readonly valid_until: string }>()
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <>
      <OverlapDialog
        title={say('keys.rotateTitle')}
        hint={say('keys.rotateHint')}
        opened={opened}
        hasChoice
        rotate={async (overlapS) => {
          setMade(await rotateKey(details.key_hash, overlapS))
          onClose()
        }}
        onClose={onClose}
      />
      <KeyOnce
        made={made}
        title={say('keys.rotatedTitle')}
        hint={
          made?.valid_until ? say('keys.oldWorksUntil', { time: fullTime(made.valid_until) }) : say('keys.oldEnded')
        }
        onDone={() => {
          void client.invalidateQueries({ queryKey: [...KEYS_KEY, 'list'] })
          void navigate({ to: `/keys/${made?.key_hash}`, replace: true })
        }}
      />
    </>
  )
}
