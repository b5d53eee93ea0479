// The health check of the image: what listens at the ports of the settings must answer. A gateway or a dashboard alone is one of them.
const PORTS = [process.env.SVC_GW_LISTENPORT || '8080', process.env.SVC_DB_LISTENPORT || '3000']
const WITHIN_MS = 3000

/** True or false as the process answers; undefined where nothing listens. */
async function isWell(port) {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${port}/hello`, { signal: AbortSignal.timeout(WITHIN_MS) })
    return ok
  } catch (error) {
    return error.cause?.code === 'ECONNREFUSED' ? undefined : false
  }
}

const answers = await Promise.all(PORTS.map(isWell))
process.exitCode = answers.includes(true) && !answers.includes(false) ? 0 : 1
