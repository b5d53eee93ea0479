// The login page alone, in front of a gateway that is there already. README.md says which variables it reads.
import { Accounts } from './accounts.ts'
import { startLoginPage } from './server.ts'
import { readSettings } from './settings.ts'

const accounts = new Accounts()
for (const pair of (process.env.ACCOUNTS ?? '').split(',')) {
  const [name = '', password = ''] = pair.split(':')
  if (name !== '' && password !== '') await accounts.add(name, password)
}
const loginPage = await startLoginPage(readSettings(process.env), accounts)
console.log(`login page  ${loginPage.url}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void loginPage.close())
