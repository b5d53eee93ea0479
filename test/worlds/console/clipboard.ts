import type { Locator, Page } from 'playwright-core'
import { eventually, within } from '../base/eventually.ts'

/**
 * Presses a link that another program would open, such as one for mails, and answers where it leads. Nothing is opened: the question
 * of the browser whether it may would take every key that is pressed from then on.
 */
export async function ledTo(link: Locator): Promise<string> {
  // On the document: a link that is drawn again meanwhile is another element.
  const led = link.page().evaluate(
    () =>
      new Promise<string>((resolve) => {
        const take = (event: MouseEvent) => {
          event.preventDefault()
          resolve((event.target as Element).closest('a')?.href ?? '')
        }
        document.addEventListener('click', take, { capture: true, once: true })
      }),
  )
  await link.click()
  return within('the page tells where a link leads', led)
}

/** Presses a button that copies, and answers what there is to paste then. */
export async function copied(page: Page, button: Locator): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await within(
    'the clipboard is emptied',
    page.evaluate(() => navigator.clipboard.writeText('')),
  )
  await button.click()
  let text = ''
  await eventually('something is copied', async () => {
    text = await within(
      'the clipboard is read',
      page.evaluate(() => navigator.clipboard.readText()),
    )
    return text !== ''
  })
  // The message that it is copied would cover the next control.
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').first().waitFor({ state: 'hidden' })
  return text
}
