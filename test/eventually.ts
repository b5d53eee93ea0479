import assert from 'node:assert/strict'

/** Waits until a condition holds, asking again and again. @throws AssertionError naming `what` after `withinMs` */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const endsAt = performance.now() + withinMs
  while (!(await holds())) {
    assert.ok(performance.now() < endsAt, `waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
