import { Box, Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useAddress } from '../../app/address.ts'

interface ObjectTab {
  readonly name: string
  readonly label: string
  readonly panel: ReactNode
  /** Left out for users who may not see it. */
  readonly isHidden?: boolean
}

const ABSENT = { tab: '', changes: '' } as const

/** The tabs of an object's page, in its address; the first one is shown where it names none. */
export function ObjectTabs({ tabs }: { readonly tabs: readonly ObjectTab[] }) {
  const [{ tab }, set] = useAddress(ABSENT)
  const shown = tabs.filter(({ isHidden }) => isHidden !== true)
  const chosen = shown.find(({ name }) => name === tab) ?? shown[0]!
  return (
    <Tabs value={chosen.name} onChange={(next) => set({ tab: next ?? '', changes: '' })} keepMounted={false}>
      <Box style={{ overflowX: 'auto' }} mb="md">
        <Tabs.List style={{ flexWrap: 'nowrap' }} miw="max-content">
          {shown.map(({ name, label }) => (
            <Tabs.Tab key={name} value={name}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Box>
      <Tabs.Panel value={chosen.name}>{chosen.panel}</Tabs.Panel>
    </Tabs>
  )
}
