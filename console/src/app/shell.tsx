import {
  ActionIcon,
  AppShell,
  Avatar,
  Box,
  Burger,
  Button,
  Group,
  Kbd,
  Menu,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Notifications } from '@mantine/notifications'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { BookOpenIcon, CircleUserIcon, LogOutIcon, MoonIcon, SearchIcon, SunIcon } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { call, onWarning } from '../api/calls/call.ts'
import { useForget, useSession } from '../api/people/session.ts'
import { notifyFault, notifyWarning } from '../parts/display/notify.ts'
import { say } from '../texts/say.ts'
import { Connection } from './connection.tsx'
import { menuOf } from './navigation.ts'

const CommandBar = lazy(() => import('./command-bar.tsx'))
const OrganisationSwitch = lazy(() => import('./organisation-switch.tsx'))

/** The frame around every page: menu, search, who is signed in. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure()
  useEffect(() => onWarning(notifyWarning), [])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 248, breakpoint: 'md', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', lg: 'xl' }}
    >
      <Notifications position="top-right" />
      <a href="#content" className="skip">
        {say('shell.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="md" size="sm" aria-label={say('shell.menu')} />
            <Box component="img" src="/console/mark.svg" alt="" w={28} h={28} />
            <Text fw={700} visibleFrom="xs">
              Gatehouse
            </Text>
            <OrganisationName />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Search />
            <SchemeButton />
            <Person />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={say('shell.menu')} {...(!opened && { className: 'closed-menu' })}>
        <ScrollArea>
          <MainMenu onChoose={close} />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Box maw={1400} mx="auto">
          <Connection />
          <Suspense>
            <Outlet />
          </Suspense>
        </Box>
      </AppShell.Main>
    </AppShell>
  )
}

function MainMenu({ onChoose }: { readonly onChoose: () => void }) {
  const groups = menuOf(useSession())
  const path = useRouterState({ select: (state) => state.location.pathname })
  // In a low window the current menu item may be below its edge.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another place in the menu
  useEffect(() => {
    const link = document.querySelector('nav a[data-active]')
    const frame = link?.closest('.mantine-ScrollArea-viewport')
    if (link && frame) showWithin(frame, link)
  }, [path])
  return groups.map(({ text, places }) => (
    <Box key={text ?? ''} mb="sm">
      {text !== undefined && (
        <Text size="xs" fw={700} tt="uppercase" c="dimmed" px="sm" py={4}>
          {say(text)}
        </Text>
      )}
      {places.map(({ to, text: name, icon: Sign }) => (
        <NavLink
          key={to}
          component={Link}
          to={to}
          label={say(name)}
          leftSection={<Sign size={18} strokeWidth={1.7} aria-hidden />}
          active={to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`)}
          onClick={onChoose}
        />
      ))}
    </Box>
  ))
}

/** Scrolls the frame alone: after `scrollIntoView` the next Tab begins at what was shown, not at the beginning of the page. */
function showWithin(frame: Element, part: Element): void {
  const [outer, inner] = [frame.getBoundingClientRect(), part.getBoundingClientRect()]
  if (inner.top < outer.top) frame.scrollTop -= outer.top - inner.top
  else if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom
}

function OrganisationName() {
  const { organisation, unbounded } = useSession()
  if (unbounded)
    return (
      <Suspense>
        <OrganisationSwitch />
      </Suspense>
    )
  if (organisation === null) return null
  return (
    <Text c="dimmed" size="sm" visibleFrom="sm" truncate maw={220}>
      {organisation.name}
    </Text>
  )
}

/** The command bar comes with its first use, so that the first page need not wait for it. */
function Search() {
  const [wanted, setWanted] = useState(false)
  const [wasWanted, setWasWanted] = useState(false)
  const open = () => {
    setWasWanted(true)
    setWanted(true)
  }
  useHotkeys([['mod+K', open]], [])
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<SearchIcon size={14} aria-hidden />}
        rightSection={
          <Box visibleFrom="sm">
            <Kbd size="xs">Ctrl K</Kbd>
          </Box>
        }
        onClick={open}
      >
        <Box visibleFrom="sm">{say('shell.search')}</Box>
        <VisuallyHidden hiddenFrom="sm">{say('shell.search')}</VisuallyHidden>
      </Button>
      {wasWanted && (
        <Suspense>
          <CommandBar opened={wanted} onClose={() => setWanted(false)} />
        </Suspense>
      )}
    </>
  )
}

function SchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <Tooltip label={say('shell.theme')}>
      <ActionIcon
        variant="default"
        size="md"
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        aria-label={say('shell.theme')}
      >
        {isDark ? <SunIcon size={16} aria-hidden /> : <MoonIcon size={16} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}

function Person() {
  const { user } = useSession()
  const forget = useForget()
  const signOut = async () => {
    let next = '/'
    try {
      const { Meta } = await call<{ readonly Meta: { readonly location: string } | null }>('POST', '/api/logout')
      // A user of an identity provider ends the session there, too.
      next = Meta?.location ?? next
    } catch (error) {
      return notifyFault(error)
    }
    forget()
    window.location.assign(next)
  }
  const name = `${user.first_name} ${user.last_name}`.trim() || user.email_address
  return (
    <Menu position="bottom-end" withArrow>
      <Menu.Target>
        <ActionIcon variant="subtle" size="lg" radius="xl">
          <VisuallyHidden>{say('shell.you', { name })}</VisuallyHidden>
          <Avatar size={30} name={name} color="gate" variant="filled" aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="wrap-anywhere">{user.email_address}</Menu.Label>
        <Menu.Item component={Link} to="/profile" leftSection={<CircleUserIcon size={16} aria-hidden />}>
          {say('shell.profile')}
        </Menu.Item>
        <Menu.Item
          component="a"
          href="/api/docs"
          target="_blank"
          rel="noopener"
          leftSection={<BookOpenIcon size={16} aria-hidden />}
        >
          {say('shell.apiDocs')}
        </Menu.Item>
        <Menu.Item onClick={signOut} leftSection={<LogOutIcon size={16} aria-hidden />}>
          {say('shell.signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
