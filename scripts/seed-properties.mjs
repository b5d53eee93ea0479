// Loaded before each test file: properties begin at GATEHOUSE_SEED, which the runner sets (`seed.mjs`) unless it is set.
const seed = Number(process.env.GATEHOUSE_SEED)
try {
  const { configureGlobal } = await import('fast-check')
  if (Number.isInteger(seed)) configureGlobal({ seed })
} catch (error) {
  // Where it is not installed there are no properties.
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
}
