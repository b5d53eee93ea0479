// The health check of the image: what listens at the ports of the settings must answer. A gateway or a dashboard alone is one of them.
const PLACES = [
  `http://127.0.0.1:${process.env.SVC_GW_LISTENPORT || '8080'}`,
  `${process.env.SVC_DB_TLS_ENABLED === 'true' ? 'https' : 'http'}://127.0.0.1:${process.env.SVC_DB_LISTENPORT || '3000'}`,
]
// The dashboard's certificate is for its public name; nothing leaves the machine here.
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
const WITHIN_MS = 3000

/** True or false as the process answers; undefined where nothing listens. */
async function isWell(place) {
  try {
    const { ok } = await fetch(`${place}/hello`, { signal: AbortSignal.timeout(WITHIN_MS) })
    return ok
  } catch (error) {
    return error.cause?.code === 'ECONNREFUSED' ? undefined : false
  }
}

const answers = await Promise.all(PLACES.map(isWell))
process.exitCode = answers.includes(true) && !answers.includes(false) ? 0 : 1
