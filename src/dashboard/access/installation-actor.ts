/** Who is written into the audit for calls with the admin secret. */
export const INSTALLATION = 'admin'
