/** Hands these values to the browser as a JSON file. */
export function saveJson(values: unknown, name: string): void {
  saveFile(new Blob([`${JSON.stringify(values, null, 2)}\n`], { type: 'application/json' }), name)
}

/** Hands a file to the browser to be kept under this name. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}
