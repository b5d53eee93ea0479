import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../worlds/base/eventually.ts'
import { openPage, startBrowser } from '../../worlds/browser/chromium.ts'
import { identityOf, textOf, unreached } from '../../worlds/console/reached.ts'
import { type Control, recorded } from '../../worlds/console/recorder.ts'

const PAGE = `<!doctype html><html lang="en"><head><title>Page</title><link rel="icon" href="/console/mark.svg"></head>
<body><header class="mantine-AppShell-header"><a href="/apis">APIs</a></header>
<main id="content"><div><button>Delete My “API”</button><button disabled>Save</button><label>Name <span aria-hidden="true">*</span>
<input></label><input type="search" aria-label="Search"><div hidden><button>Cancel</button></div>
<div role="radiogroup" aria-label="Time"><label><input type="radio" name="t">24 h</label>
<label><input type="radio" name="t">7 days</label></div>
<label><input type="file" hidden></label><button id="later">Later</button><section id="part"></section></div></main>
<script>document.getElementById('later').onclick = () => {
  document.body.insertAdjacentHTML('beforeend', '<div role="dialog" aria-label="Really?"><button>Yes</button></div>')
}</script></body></html>`

async function servePage(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    response.setHeader('content-type', request.url?.endsWith('.svg') ? 'image/svg+xml' : 'text/html; charset=utf-8')
    response.end(request.url?.endsWith('.svg') ? '<svg xmlns="http://www.w3.org/2000/svg"/>' : PAGE)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const short = ({ fate, page, place, role, name }: Control) => [fate, page, place, role, name].join('|')

test('what stands on a page is noted, and what is used, by role and name', async (t) => {
  const { page } = await openPage(t, await startBrowser(t), { base: await servePage(t) })
  await page.goto('/keys/0123?tab=x')
  const has = (line: string) => eventually(line, () => recorded().some((control) => short(control) === line))
  await has('seen|*||link|APIs')
  await has('seen|/keys/$id||button|Delete My “API”')
  await has('seen|/keys/$id||radiogroup|Time')
  await page.getByLabel('Name').fill('x')
  await has('used|/keys/$id||field|Name')
  await page.getByRole('radio', { name: '7 days' }).check()
  await has('used|/keys/$id||radiogroup|Time')
  await page.getByRole('button', { name: 'Later' }).click()
  await has('seen|/keys/$id|Really?|button|Yes')
  // Content that appears in a part of a page when the address is that of the next one belongs to the old page.
  await page.evaluate(() => {
    history.pushState(null, '', '/labels')
    document.getElementById('part')!.innerHTML = '<a href="/analytics">Late</a>'
  })
  await has('seen|/keys/$id||link|Late')
  // So does an added part, until the next page replaces all of them.
  await page.evaluate(() => {
    const whole = document.querySelector('#content > *')!
    whole.insertAdjacentHTML('beforeend', '<section><a href="/analytics">Later still</a></section>')
  })
  await has('seen|/keys/$id||link|Later still')
  await page.evaluate(() => {
    document.querySelector('#content > *')!.innerHTML = '<section><button>Next</button></section>'
  })
  await has('seen|/labels||button|Next')
  const lines = recorded().map(short)
  for (const word of ['Save', 'Cancel', 'file']) assert.ok(!lines.some((line) => line.includes(word)), word)
  assert.ok(!lines.includes('used|/keys/$id|Really?|button|Yes'))
  assert.ok(!lines.includes('used|/keys/$id||field|Search'))
})

test('a control is one by the text it is made from, not by what it names', () => {
  assert.equal(textOf('View requests of Weather <b>1</b>'), 'View requests of {name}')
  assert.equal(textOf('Weather'), '…')
  assert.equal(textOf('Search'), 'Search')
  const control = (fate: Control['fate'], name: string, place = ''): Control => {
    return { ...{ fate, name, place }, page: '/keys', role: 'button' }
  }
  assert.equal(identityOf(control('seen', 'Cancel', 'Any dialog')), 'everywhere · button “Cancel”')
  assert.deepEqual(
    unreached([
      control('seen', 'View requests of A'),
      control('seen', 'View requests of B'),
      control('used', 'View requests of B'),
      control('seen', 'Export'),
      control('used', 'Export', 'Delete A?'),
    ]),
    ['/keys · button “Export”'],
  )
})
