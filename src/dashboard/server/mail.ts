import { readFileSync } from 'node:fs'
import { createTransport, type Transporter } from 'nodemailer'
import type { Config } from '../../config/schema.ts'
import { fault } from '../../errors/fault.ts'
import { toEmail } from '../../model/people/user.ts'

/** A mail: one recipient, plain text, and the same as HTML where there is more to it than paragraphs. */
export interface Mail {
  readonly to: string
  readonly subject: string
  /** Paragraphs are separated by empty lines; a web address alone in one becomes a link. */
  readonly text: string
  /** The sender, if not the installation's; '' = as configured. */
  readonly from?: { readonly name: string; readonly address: string }
}

type MailSettings = Config['dashboard']['email_backend']

const LONGEST_SUBJECT = 200

/** Sends mails by the mail server of the settings, over one connection for each. */
export class Mailer {
  readonly #settings: MailSettings
  readonly #password: () => string
  /** Made for the first mail, and again when the password changes: where its certificate file cannot be read, that mail fails and not the start. */
  #made: { readonly transport: Transporter; readonly password: string } | undefined

  /** `password`: at the mail server, as it is now; absent = that of the settings. */
  constructor(settings: MailSettings, password: () => string = () => settings.settings.smtp_password) {
    this.#settings = settings
    this.#password = password
  }

  /** True when mails are sent at all. */
  get isOn(): boolean {
    const { enable_email_notifications: enabled, default_from_email: from, settings } = this.#settings
    return enabled && from !== '' && settings.smtp_host !== ''
  }

  /**
   * Sends a mail, as text and as HTML; resolves when the server has accepted it. @throws Fault `mail_off` when mails are not configured,
   * `mail_invalid` for a recipient or subject that could smuggle header fields in, `mail_failed` when the server refuses it
   */
  async send({ to, subject, text, from }: Mail): Promise<void> {
    if (!this.isOn) throw fault('mail_off')
    if (toEmail(to) === undefined) throw fault('mail_invalid', 'the recipient is no single address')
    if (/[\x00-\x1f\x7f]/.test(subject) || subject.length > LONGEST_SUBJECT)
      throw fault('mail_invalid', 'the subject is not one line of text')
    const { default_from_email, default_from_name } = this.#settings
    const address = from?.address || default_from_email
    const name = from?.name || default_from_name
    if (toEmail(address) === undefined || /[\x00-\x1f\x7f]/.test(name))
      throw fault('mail_invalid', 'the sender is no single address')
    try {
      await this.#transport().sendMail({
        from: { name, address },
        to: { name: '', address: to },
        subject,
        text,
        html: toHtml(text),
        // The text is literal: nothing in it is fetched.
        disableFileAccess: true,
        disableUrlAccess: true,
      })
    } catch (cause) {
      throw fault(
        'mail_failed',
        `the mail server did not take a mail: ${(cause as NodeJS.ErrnoException).code ?? 'failed'}`,
        cause,
      )
    }
  }

  #transport(): Transporter {
    const password = this.#password()
    if (this.#made?.password !== password) this.#made = { transport: transportOf(this.#settings, password), password }
    return this.#made.transport
  }
}

/** Opens a connection for each mail: mails are rare, and an idle connection would be closed by the time it is needed. */
function transportOf({ settings }: MailSettings, password: string): Transporter {
  return createTransport({
    host: settings.smtp_host,
    port: settings.smtp_port,
    secure: settings.smtp_tls === 'implicit',
    // Never falls back to clear text when an attacker strips the STARTTLS offer.
    requireTLS: settings.smtp_tls === 'starttls',
    ignoreTLS: settings.smtp_tls === 'none',
    ...(settings.smtp_ca_file !== '' && { tls: { ca: readFileSync(settings.smtp_ca_file) } }),
    ...(settings.smtp_username !== '' && { auth: { user: settings.smtp_username, pass: password } }),
    connectionTimeout: settings.timeout_ms,
    greetingTimeout: settings.timeout_ms,
    socketTimeout: settings.timeout_ms,
    dnsTimeout: settings.timeout_ms,
  })
}

/** The HTML of a plain text: everything in it escaped, paragraphs and links kept. */
export function toHtml(text: string): string {
  const paragraphs = text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${linked(paragraph.trim()).replaceAll('\n', '<br>\n')}</p>`)
  return `<!doctype html>\n<html><body>\n${paragraphs.join('\n')}\n</body></html>\n`
}

function linked(paragraph: string): string {
  const safe = escapeHtml(paragraph)
  return /^https?:\/\/\S+$/.test(paragraph) ? `<a href="${safe}">${safe}</a>` : safe
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
