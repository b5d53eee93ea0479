import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as the server got it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Head and body, as they came. */
  readonly raw: string
  readonly head: string
  readonly secure: boolean
  readonly user: string
  /** The plain text, decoded. */
  readonly text: string
  readonly html: string
}

export interface MailServer {
  readonly port: number
  readonly mails: ReceivedMail[]
}

/** A real SMTP server on the loopback address that keeps what it gets. */
export async function startMailServer(t: TestContext, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    onAuth: ({ username, password }, _session, callback) =>
      password === 'mail password' ? callback(null, { user: username ?? '' }) : callback(new Error('no')),
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const raw = Buffer.concat(chunks).toString('utf8')
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw,
          head: raw.split('\r\n\r\n', 1)[0]!,
          secure: session.secure,
          user: String(session.user ?? ''),
          text: part(raw, 'text/plain'),
          html: part(raw, 'text/html'),
        })
        callback()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () => resolve((listening.address() as AddressInfo).port))
  })
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { port, mails }
}

/** Settings that lead to a server. */
export function mailSettings({ port }: { readonly port: number }): Record<string, string> {
  return {
    SVC_DB_EMAILBACKEND_ENABLEEMAILNOTIFICATIONS: 'true',
    SVC_DB_EMAILBACKEND_DEFAULTFROMEMAIL: 'gatehouse@example.test',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPHOST: '127.0.0.1',
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPPORT: String(port),
    SVC_DB_EMAILBACKEND_SETTINGS_SMTPTLS: 'none',
    SVC_DB_PUBLICURL: 'https://dashboard.example.test',
  }
}

/** One part of a mail with alternatives, decoded. */
function part(raw: string, type: string): string {
  // By the boundary that the head names: a folded line of a text may begin with two dashes as well.
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1]
  const pieces = boundary === undefined ? [] : raw.split(new RegExp(`\r\n--${RegExp.escape(boundary)}(?:--)?\r\n`))
  const found = pieces.find((piece) => piece.toLowerCase().startsWith(`content-type: ${type}`))
  if (found === undefined) return ''
  const at = found.indexOf('\r\n\r\n')
  const [head, body] = [found.slice(0, at).toLowerCase(), found.slice(at + 4)]
  if (head.includes('base64')) return Buffer.from(body, 'base64').toString('utf8')
  if (!head.includes('quoted-printable')) return body
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
