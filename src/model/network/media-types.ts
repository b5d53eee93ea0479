/** True for the media types of HTML forms, in lower case and without parameters. */
export function isFormType(type: string): boolean {
  return type === 'application/x-www-form-urlencoded' || type === 'multipart/form-data'
}
