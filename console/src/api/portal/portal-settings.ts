import { call } from '../calls/call.ts'

/** A field of a form of the portal: its name, or more about it. */
export type PortalField = string | { readonly name: string }

export const MAIL_TYPES = ['welcome_email', 'key_email', 'reset_password_email'] as const
export type MailType = (typeof MAIL_TYPES)[number]

/** How one of the mails is worded; '' = as Gatehouse words it. */
export interface MailCopy {
  readonly enabled: boolean
  readonly subject: string
  readonly body: string
  readonly sign_off: string
  readonly hide_token_data: boolean
}

/** How the portal behaves. */
export interface PortalSettings {
  readonly signup_fields: readonly PortalField[]
  readonly key_request_fields: readonly PortalField[]
  readonly require_key_approval: boolean
  readonly secure_key_approval: boolean
  readonly redirect_on_key_request: boolean
  readonly redirect_to: string
  readonly enable_multi_selection: boolean
  readonly disable_login: boolean
  readonly disable_signup: boolean
  readonly disable_auto_login: boolean
  readonly catalogue_login_only: boolean
  /** OAuth apps that a developer may have; -1 = any number. */
  readonly oauth_usage_limit: number
  readonly email: string
  readonly portal_url: string
  readonly mail_options: {
    readonly mail_from_name: string
    readonly mail_from_email: string
    readonly email_copy: Readonly<Record<MailType, MailCopy>>
  }
}

/** How the portal looks, and the host it is reached at. */
export interface PortalLook {
  readonly page_css: string
  readonly email_css: string
  readonly page_js: string
  readonly cname: string
}

export const PORTAL_SETTINGS_KEY = ['portal-settings'] as const
export const PORTAL_LOOK_KEY = ['portal-look'] as const

/** @throws CallError */
export function readPortalSettings(signal?: AbortSignal): Promise<PortalSettings> {
  return call('GET', '/api/portal/configuration', signal && { signal })
}

/** Says what is sent; the rest stays. @throws CallError 400 naming the field */
export function savePortalSettings(body: Partial<PortalSettings>): Promise<unknown> {
  return call('PUT', '/api/portal/configuration', { body })
}

/** @throws CallError */
export async function readPortalLook(signal?: AbortSignal): Promise<PortalLook> {
  const sent = signal && { signal }
  const [css, js, organisation] = await Promise.all([
    call<Pick<PortalLook, 'page_css' | 'email_css'>>('GET', '/api/portal/css', sent),
    call<Pick<PortalLook, 'page_js'>>('GET', '/api/portal/js', sent),
    call<Pick<PortalLook, 'cname'>>('GET', '/api/org', sent),
  ])
  const { page_css, email_css } = css
  return { page_css, email_css, page_js: js.page_js, cname: organisation.cname ?? '' }
}

/** Writes what is another than before. @throws CallError 409 for the host of another organisation */
export async function savePortalLook(before: PortalLook, look: PortalLook): Promise<void> {
  const { page_css, email_css, page_js, cname } = look
  if (cname !== before.cname) await call('PUT', '/api/portal/cname', { body: { cname } })
  if (page_css !== before.page_css || email_css !== before.email_css)
    await call('PUT', '/api/portal/css', { body: { page_css, email_css } })
  if (page_js !== before.page_js) await call('PUT', '/api/portal/js', { body: { page_js } })
}
