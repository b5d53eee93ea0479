// npm run example:login
import { type Example, PEOPLE, startExample } from './start-example.ts'

const port = (name: string, usual: number) => Number(process.env[name] ?? usual)

/** Commands for the other journey: a device without a browser. */
function deviceCommands({ issuer, client }: Example): string {
  return `  curl -s -u '${client.id}:${client.secret}' -d scope=orders:read ${issuer}/oauth/device_authorization`
}

try {
  const example = await startExample({
    gatewayPort: port('GATEWAY_PORT', 8090),
    loginPort: port('LOGIN_PORT', 8091),
    appPort: port('APP_PORT', 8092),
  })
  console.log(`open this   ${example.appUrl}
gateway     ${example.gatewayUrl}
login page  ${example.loginUrl}
sign in as  ${PEOPLE.map(({ name, password }) => `${name} / ${password}`).join(', ')}

Connect a device: ask for a code, open the login page, type it there.
${deviceCommands(example)}

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
  console.error('Ports are chosen with GATEWAY_PORT, LOGIN_PORT and APP_PORT.')
  process.exitCode = 1
}
