// The mails of the demonstration: a server that keeps what it gets and sends nothing on.
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A mail as text. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** A mail server that is listening. */
export interface Mailbox {
  readonly port: number
  readonly mails: readonly Mail[]
  close(): Promise<void>
}

/** Starts a mail server on loopback. `tell` is called for every mail. */
export async function startMailbox(tell: (mail: Mail) => void): Promise<Mailbox> {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const mail = readMail(Buffer.concat(chunks).toString('latin1'), session.envelope.rcptTo[0]?.address ?? '')
        mails.push(mail)
        tell(mail)
        callback()
      })
    },
  })
  server.on('error', () => {})
  const port = await new Promise<number>((resolve) => {
    const listening = server.listen(0, '127.0.0.1', () => resolve((listening.address() as AddressInfo).port))
  })
  return { port, mails, close: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** Subject and plain text; as much of MIME as the mails of a gatehouse need. */
function readMail(raw: string, to: string): Mail {
  const head = raw.split('\r\n\r\n', 1)[0]!
  const subject = /^Subject: (.*)$/im.exec(head)?.[1]?.trim() ?? ''
  const pieces = raw.split(/\r\n--[^\r\n]+\r\n/)
  const plain = pieces.find((piece) => /^content-type: text\/plain/im.test(piece.split('\r\n\r\n', 1)[0]!)) ?? raw
  const at = plain.indexOf('\r\n\r\n')
  return {
    to,
    subject,
    text: decoded(plain.slice(0, at), plain.slice(at + 4))
      .replaceAll('\r\n', '\n')
      .trim(),
  }
}

function decoded(head: string, body: string): string {
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, 'base64').toString('utf8')
  if (!/transfer-encoding: quoted-printable/i.test(head)) return Buffer.from(body, 'latin1').toString('utf8')
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
