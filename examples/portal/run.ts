// npm run example
import { PEOPLE } from '../login-page/start-example.ts'
import { ADMIN, startExample } from './start-example.ts'

const port = (name: string, usual: number) => Number(process.env[name] ?? usual)

try {
  const example = await startExample({
    gatewayPort: port('GATEWAY_PORT', 8090),
    dashboardPort: port('DASHBOARD_PORT', 8093),
    portalPort: port('PORTAL_PORT', 8094),
    loginPort: port('LOGIN_PORT', 8091),
    tell: ({ to, subject, text }) => console.log(`\nmail to ${to}: ${subject}\n${text.replace(/^/gm, '  ')}`),
  })
  console.log(`open this   ${example.portalUrl}
gateway     ${example.gatewayUrl}
dashboard   ${example.dashboardUrl} (${ADMIN.email} / ${ADMIN.password})
login page  ${example.loginUrl} (${PEOPLE.map(({ name, password }) => `${name} / ${password}`).join(', ')})

Sign up, get a key for the weather, and call it:
  curl -H 'Authorization: YOUR-KEY' ${example.gatewayUrl}/weather/now/Lisbon

Register an app for the orders: its people sign in at the login page.
Requests for parcels wait until an administrator approves them. Mails are printed here, and sent nowhere.
Ctrl-C ends everything and deletes its data.`)
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      example.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
  }
} catch (error) {
  console.error(`example: ${error instanceof Error ? error.message : error}`)
  console.error('Ports are chosen with GATEWAY_PORT, DASHBOARD_PORT, PORTAL_PORT and LOGIN_PORT.')
  process.exitCode = 1
}
