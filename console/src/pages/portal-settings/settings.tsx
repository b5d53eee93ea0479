import { Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { PORTAL_SETTINGS_KEY, type PortalSettings, readPortalSettings } from '../../api/portal/portal-settings.ts'
import { useAddress } from '../../app/address.ts'
import { FaultBox } from '../../parts/display/fault-box.tsx'
import { PageHead } from '../../parts/display/page-head.tsx'
import { Guarded } from '../../parts/forms/guarded.tsx'
import { say, type TextName } from '../../texts/say.ts'
import { SettingsAccess } from './settings-access.tsx'
import { SettingsLook } from './settings-look.tsx'
import { SettingsMail } from './settings-mail.tsx'
import { SettingsPages } from './settings-pages.tsx'
import { SettingsRequests } from './settings-requests.tsx'

const ABSENT = { tab: 'access' }
const TABS: readonly (readonly [string, TextName, ComponentType<{ readonly settings: PortalSettings }>])[] = [
  ['access', 'portal.tabAccess', SettingsAccess],
  ['requests', 'portal.tabRequests', SettingsRequests],
  ['mail', 'portal.tabMail', SettingsMail],
  ['look', 'portal.tabLook', SettingsLook],
  ['pages', 'portal.tabPages', SettingsPages],
]

/** How the portal behaves, in five parts. */
export default function PortalSettingsPage() {
  return (
    <Guarded permission="portal" title={say('shell.portalSettings')}>
      <Settings />
    </Guarded>
  )
}

function Settings() {
  const [{ tab }, setAddress] = useAddress(ABSENT)
  const { data, error, refetch } = useQuery({
    queryKey: PORTAL_SETTINGS_KEY,
    queryFn: ({ signal }) => readPortalSettings(signal),
  })
  return (
    <>
      <PageHead title={say('shell.portalSettings')} hint={say('portal.settingsHint')} />
      <FaultBox error={error} retry={refetch} />
      {data === undefined && error === null && <Skeleton h={320} />}
      {data !== undefined && (
        <Tabs value={tab} onChange={(to) => setAddress({ tab: to ?? '' })} keepMounted={false}>
          <Tabs.List mb="lg">
            {TABS.map(([value, title]) => (
              <Tabs.Tab key={value} value={value}>
                {say(title)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {TABS.map(([value, , Part]) => (
            <Tabs.Panel key={value} value={value}>
              <Part settings={data} />
            </Tabs.Panel>
          ))}
        </Tabs>
      )}
    </>
  )
}
