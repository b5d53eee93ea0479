import { test } from 'node:test'
import { becomes } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { checkThemes, shoot, signIn, startConsole, firstSteps as steps } from '../../worlds/console/world.ts'

test('without permission to create APIs there are no first steps', async (t) => {
  const world = await startConsole(t)
  const browser = await startBrowser(t)
  for (const [person, has, lacks] of [
    [world.reader, ['Last 24 hours', 'Needs your attention'], ['Get started']],
    [world.owner, ['Last 24 hours', 'Get started'], ['Needs your attention']],
  ] as const) {
    const { page } = await openPage(t, browser, { base: world.base })
    await signIn(page, person)
    for (const name of has) await page.getByRole('heading', { name }).waitFor()
    for (const name of lacks) await becomes(() => page.getByRole('heading', { name }).count(), 0, name)
    await checkThemes(page)
    await shoot(page, `home-${person.firstName.toLowerCase()}`)
    if (person !== world.owner) continue
    await steps(page).getByRole('button', { name: 'Hide' }).click()
    await steps(page).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('link', { name: 'All analytics' }).waitFor()
    await becomes(() => steps(page).count(), 0, 'hidden steps stay hidden')
    await page.getByRole('link', { name: 'All analytics' }).click()
    await page.getByRole('heading', { name: 'Analytics', level: 1 }).waitFor()
  }
})
