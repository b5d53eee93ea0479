import { Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { say } from '../../texts/say.ts'

/** Name and password for a directory; the response is a new page, so the browser sends it. */
export function DirectoryForm({ name, url }: { readonly name: string; readonly url: string }) {
  return (
    <form method="post" action={url}>
      <Stack gap="xs">
        <TextInput name="username" label={say('start.directoryName', { name })} autoComplete="username" required />
        <PasswordInput name="password" label={say('start.password')} autoComplete="current-password" required />
        <Button type="submit" variant="default">
          {say('start.with', { name })}
        </Button>
      </Stack>
    </form>
  )
}
