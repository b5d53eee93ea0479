// Loaded before each test file: one that does not end within GATEHOUSE_LONGEST_FILE_MS, because a hook or a socket waits for ever,
// is ended as a failure that says so. The runner has no bound for files, only for tests.
const longestMs = Number(process.env.GATEHOUSE_LONGEST_FILE_MS)
const isTestFile = process.env.NODE_TEST_CONTEXT === 'child-v8'
if (isTestFile && longestMs > 0) {
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    console.error(`${process.argv[1]} did not end within ${longestMs / 1000} s; still open: ${open}`)
    process.exit(1)
  }, longestMs).unref()
}
